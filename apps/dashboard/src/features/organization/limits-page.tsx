import { ApiError } from '@gateway/dashboard-contract/client';
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { getRouteApi } from '@tanstack/react-router';
import { useState } from 'react';
import { api } from '../../api/client';
import { blockingErrorOf } from '../../api/transient-error';
import { organizationQuery, type Organization } from '../../api/organizations';
import { usePermission } from '../../api/session';
import { count } from '../../format/count';
import { Button } from '../../ui/button';
import { Conflict } from '../../ui/conflict';
import { Checkbox, Field, Input } from '../../ui/field';
import { Fact, Facts, Page, Section } from '../../ui/page';
import { Failure, FailureLine, SkeletonRows } from '../../ui/states';
import { useToast } from '../../ui/toast';
import { Id, Money, Time } from '../../ui/values';
import { budgetError, limitError } from '../keys/key-form-values';

const route = getRouteApi('/signed-in/o/$organizationId/limits');

export function LimitsPage() {
  const { organizationId } = route.useParams();
  const query = useQuery(organizationQuery(organizationId));
  const failure = blockingErrorOf(query);
  const canChange = usePermission(organizationId)('organization:limits');
  const [editing, setEditing] = useState(false);
  return (
    <Page
      narrow
      title="Limits"
      description="Shared by all keys. Keys can have lower limits."
      actions={canChange && query.data && !editing && <Button onClick={() => setEditing(true)}>Edit</Button>}
    >
      {failure ? (
        <Failure error={failure} what="limits" onRetry={() => void query.refetch()} />
      ) : !query.data ? (
        <SkeletonRows rows={6} />
      ) : editing ? (
        <LimitsForm organization={query.data} onDone={() => setEditing(false)} />
      ) : (
        <>
          <Section title="Limits">
            <LimitFacts of={query.data} />
          </Section>
          <Section title="Organization">
            <Facts>
              <Fact name="ID">
                <Id>{query.data.id}</Id>
              </Fact>
              <Fact name="Created">
                <Time at={query.data.created_at} />
              </Fact>
            </Facts>
          </Section>
        </>
      )}
    </Page>
  );
}

function LimitFacts({ of: { limits } }: { readonly of: Organization }) {
  const cap = (value: number | null) => (value === null ? 'No limit' : count(value));
  return (
    <Facts>
      <Fact name="Requests per minute">{cap(limits.requests_per_minute)}</Fact>
      <Fact name="Tokens per minute">{cap(limits.tokens_per_minute)}</Fact>
      <Fact name="Concurrent requests">{cap(limits.concurrency)}</Fact>
      <Fact name="Daily budget">
        {limits.daily_budget_usd === null ? (
          'No limit'
        ) : (
          <>
            <Money usd={limits.daily_budget_usd} digits="all" />, resets at 00:00 UTC
          </>
        )}
      </Fact>
      <Fact name="Max output tokens per request">{cap(limits.max_output_tokens)}</Fact>
      <Fact name="Multiple completions">{limits.multiple_completions ? 'Allowed' : 'Not allowed'}</Fact>
    </Facts>
  );
}

interface Values {
  readonly requestsPerMinute: string;
  readonly tokensPerMinute: string;
  readonly concurrency: string;
  readonly dailyBudget: string;
  readonly maxOutputTokens: string;
  readonly multipleCompletions: boolean;
}

const CAPS = [
  { name: 'requestsPerMinute', label: 'Requests per minute' },
  { name: 'tokensPerMinute', label: 'Tokens per minute' },
  { name: 'concurrency', label: 'Concurrent requests' },
  { name: 'maxOutputTokens', label: 'Max output tokens per request' },
] as const;

function valuesOf({ limits }: Organization): Values {
  return {
    requestsPerMinute: limits.requests_per_minute?.toString() ?? '',
    tokensPerMinute: limits.tokens_per_minute?.toString() ?? '',
    concurrency: limits.concurrency?.toString() ?? '',
    dailyBudget: limits.daily_budget_usd ?? '',
    maxOutputTokens: limits.max_output_tokens?.toString() ?? '',
    multipleCompletions: limits.multiple_completions,
  };
}

function bodyOf(values: Values) {
  const cap = (text: string) => (text.trim() === '' ? null : Number(text.replaceAll(/[\s,_]/g, '')));
  return {
    requests_per_minute: cap(values.requestsPerMinute),
    tokens_per_minute: cap(values.tokensPerMinute),
    concurrency: cap(values.concurrency),
    daily_budget_usd: values.dailyBudget.trim() || null,
    max_output_tokens: cap(values.maxOutputTokens),
    multiple_completions: values.multipleCompletions,
  };
}

interface LimitsFormProps {
  readonly organization: Organization;
  readonly onDone: () => void;
}

/** Saves with optimistic locking; a conflict lets the person choose. */
export function LimitsForm({ organization, onDone }: LimitsFormProps) {
  const [values, setValues] = useState(() => valuesOf(organization));
  const [readVersion, setReadVersion] = useState(organization.version);
  const queryClient = useQueryClient();
  const toast = useToast();
  const save = useMutation({
    mutationFn: () =>
      api.call('PUT /api/organizations/{organization_id}/limits', {
        params: { organization_id: organization.id },
        body: { ...bodyOf(values), version: readVersion },
      }),
    onSuccess: async ({ organization: changed }) => {
      queryClient.setQueryData(organizationQuery(organization.id).queryKey, changed);
      await queryClient.invalidateQueries({ queryKey: ['organizations'] });
      await queryClient.invalidateQueries({ queryKey: ['all-organizations'] });
      toast('Limits updated.');
      onDone();
    },
  });
  const conflict =
    save.error instanceof ApiError && save.error.code === 'version_conflict' ? save.error : undefined;
  const current = conflict?.details.metadata['current'] as Organization | undefined;
  const issues = {
    ...Object.fromEntries(CAPS.map(({ name }) => [name, limitError(values[name], null)])),
    dailyBudget: budgetError(values.dailyBudget, null),
  } as Partial<Record<keyof Values, string>>;
  const set = (name: keyof Values, value: string | boolean) => setValues({ ...values, [name]: value });

  return (
    <form
      noValidate
      className="grid gap-5"
      onSubmit={(event) => {
        event.preventDefault();
        if (Object.values(issues).every((issue) => issue === undefined)) save.mutate();
      }}
    >
      <p className="text-sm text-ink-soft">Leave empty for no limit.</p>
      <div className="grid gap-5 sm:grid-cols-2">
        {CAPS.map(({ name, label }) => (
          <Field key={name} label={label} error={issues[name]}>
            <Input
              inputMode="numeric"
              placeholder="No limit"
              value={values[name]}
              onChange={({ target }) => set(name, target.value)}
            />
          </Field>
        ))}
        <Field label="Daily budget (USD)" hint="Resets at 00:00 UTC." error={issues.dailyBudget}>
          <Input
            inputMode="decimal"
            placeholder="No limit"
            value={values.dailyBudget}
            onChange={({ target }) => set('dailyBudget', target.value)}
          />
        </Field>
      </div>
      <Checkbox
        label="Allow multiple completions per request (n > 1)"
        checked={values.multipleCompletions}
        onChange={({ target }) => set('multipleCompletions', target.checked)}
      />
      {current && (
        <Conflict
          what="these limits"
          onDiscard={() => {
            setValues(valuesOf(current));
            setReadVersion(current.version);
            save.reset();
          }}
          onKeep={() => {
            setReadVersion(current.version);
            save.reset();
          }}
        >
          Your changes were not saved.
        </Conflict>
      )}
      {save.error && !current && <FailureLine error={save.error} />}
      <div className="flex gap-2">
        <Button type="submit" kind="primary" busy={save.isPending} disabled={conflict !== undefined}>
          Save
        </Button>
        <Button kind="quiet" onClick={onDone}>
          Cancel
        </Button>
      </div>
    </form>
  );
}
