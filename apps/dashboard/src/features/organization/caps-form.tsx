import { useMutation, useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { api } from '../../api/client';
import { organizationQuery, type Organization } from '../../api/organizations';
import { count } from '../../format/count';
import { exactUsd, nanoUsdOf, readAmount } from '../../format/money';
import { Checkbox, Field, Input } from '../../ui/field';
import { useToast } from '../../ui/toast';
import { UnsavedChanges } from '../../ui/unsaved-changes';
import { conflictingVersion, VersionedFormEnd } from '../../ui/versioned-form';
import { BUDGETS, LIMIT_EFFECTS, type BudgetField } from '../keys/budgets';
import { budgetError, limitError, parseLimit } from '../keys/limit-values';
import { OtherBudgetsFields } from '../keys/other-budgets';
import {
  otherBudgetsBodyOf,
  otherBudgetsError,
  otherBudgetValuesOf,
  type OtherBudgetValue,
} from '../keys/other-budget-values';

/** Which caps of an organization: those that it sets itself, or their upper bounds. */
export type Caps = 'limits' | 'ceilings';

export const COUNTS = [
  {
    field: 'requests_per_minute',
    label: 'Requests per minute',
    effect: LIMIT_EFFECTS.requests_per_minute,
  },
  {
    field: 'tokens_per_minute',
    label: 'Tokens per minute',
    effect: LIMIT_EFFECTS.tokens_per_minute,
  },
  {
    field: 'concurrency',
    label: 'Concurrent requests',
    effect: LIMIT_EFFECTS.concurrency,
  },
  {
    field: 'max_output_tokens',
    label: 'Max output tokens per request',
    effect: 'A request with a larger max_tokens gets 400. Without max_tokens it is the limit.',
  },
] as const;

type CountField = (typeof COUNTS)[number]['field'];

/** The form's values as typed. */
type Values = Readonly<Record<CountField | BudgetField, string>> & {
  readonly multiple_completions: boolean;
  /** Ceilings have none. */
  readonly otherBudgets: readonly OtherBudgetValue[];
};

function valuesOf(caps: Organization['ceilings'] & Partial<Organization['limits']>): Values {
  return {
    otherBudgets: otherBudgetValuesOf(caps.budgets ?? []),
    requests_per_minute: caps.requests_per_minute?.toString() ?? '',
    tokens_per_minute: caps.tokens_per_minute?.toString() ?? '',
    concurrency: caps.concurrency?.toString() ?? '',
    daily_budget_usd: caps.daily_budget_usd ?? '',
    weekly_budget_usd: caps.weekly_budget_usd ?? '',
    monthly_budget_usd: caps.monthly_budget_usd ?? '',
    total_budget_usd: caps.total_budget_usd ?? '',
    max_output_tokens: caps.max_output_tokens?.toString() ?? '',
    multiple_completions: caps.multiple_completions,
  };
}

function bodyOf(values: Values) {
  return {
    requests_per_minute: parseLimit(values.requests_per_minute),
    tokens_per_minute: parseLimit(values.tokens_per_minute),
    concurrency: parseLimit(values.concurrency),
    daily_budget_usd: readAmount(values.daily_budget_usd) || null,
    weekly_budget_usd: readAmount(values.weekly_budget_usd) || null,
    monthly_budget_usd: readAmount(values.monthly_budget_usd) || null,
    total_budget_usd: readAmount(values.total_budget_usd) || null,
    max_output_tokens: parseLimit(values.max_output_tokens),
    multiple_completions: values.multiple_completions,
  };
}

const TEXTS = {
  limits: {
    none: 'No limit',
    introduction:
      'Leave empty for no limit other than the ceiling. Keys with a limit above a new one are lowered to it. Requests that exceed the daily budget get 429, another budget 402.',
    multiple: 'Allow multiple completions per request (n > 1)',
    saved: 'Limits updated.',
    conflict: 'these limits',
  },
  ceilings: {
    none: 'No ceiling',
    introduction:
      'Leave empty for no ceiling. Limits of the organization and its keys above a new ceiling are lowered to it.',
    multiple: 'The organization can allow multiple completions per request (n > 1)',
    saved: 'Ceilings updated.',
    conflict: 'these ceilings',
  },
} as const;

const ABOVE_CEILING = 'Above the ceiling.';

interface CapsFormProps {
  readonly caps: Caps;
  readonly organization: Organization;
  readonly onDone: () => void;
}

export function CapsForm({ caps, organization, onDone }: CapsFormProps) {
  const texts = TEXTS[caps];
  const [initial] = useState(() => valuesOf(organization[caps]));
  const [values, setValues] = useState(initial);
  const [readVersion, setReadVersion] = useState(organization.version);
  const queryClient = useQueryClient();
  const toast = useToast();
  const save = useMutation({
    mutationFn: () => {
      const params = { organization_id: organization.id };
      const body = { ...bodyOf(values), version: readVersion };
      return caps === 'limits'
        ? api.call('PUT /api/organizations/{organization_id}/limits', {
            params,
            body: { ...body, budgets: otherBudgetsBodyOf(values.otherBudgets) },
          })
        : api.call('PUT /api/organizations/{organization_id}/ceilings', { params, body });
    },
    onSuccess: async ({ organization: changed }) => {
      queryClient.setQueryData(organizationQuery(organization.id).queryKey, changed);
      await queryClient.invalidateQueries({ queryKey: ['organizations'] });
      await queryClient.invalidateQueries({ queryKey: ['all-organizations'] });
      toast(texts.saved);
      onDone();
    },
  });
  const latest = conflictingVersion<Organization>(save.error) ?? organization;
  const ceilings = caps === 'limits' ? latest.ceilings : undefined;
  const otherBudgetsIssue = otherBudgetsError(values.otherBudgets);
  const issues = [
    ...COUNTS.map(({ field }) => limitError(values[field], ceilings?.[field], ABOVE_CEILING)),
    ...BUDGETS.map(({ field }) => budgetError(values[field], ceilings?.[field], ABOVE_CEILING)),
    otherBudgetsIssue,
  ];
  const set = (name: keyof Values, value: string | boolean | readonly OtherBudgetValue[]) =>
    setValues({ ...values, [name]: value });
  const mayAllowMultiple = ceilings === undefined || ceilings.multiple_completions;

  return (
    <form
      noValidate
      className="grid gap-5"
      onSubmit={(event) => {
        event.preventDefault();
        if (issues.every((issue) => issue === undefined)) save.mutate();
      }}
    >
      <UnsavedChanges when={values !== initial && !save.isSuccess} />
      <p className="text-sm text-ink-soft">{texts.introduction}</p>
      <div className="grid gap-5 sm:grid-cols-2">
        {COUNTS.map(({ field, label, effect }, index) => (
          <Field
            key={field}
            label={label}
            hint={`${effect}${hintOf(caps, latest, field, values[field])}`}
            error={issues[index]}
          >
            <Input
              inputMode="numeric"
              placeholder={texts.none}
              value={values[field]}
              onChange={({ target }) => set(field, target.value)}
            />
          </Field>
        ))}
        {BUDGETS.map(({ field, label, reset }, index) => (
          <Field
            key={field}
            label={`${label} (USD)`}
            hint={`${reset}${budgetHintOf(caps, latest, field, values[field])}`}
            error={issues[COUNTS.length + index]}
          >
            <Input
              inputMode="decimal"
              placeholder={texts.none}
              value={values[field]}
              onChange={({ target }) => set(field, target.value)}
            />
          </Field>
        ))}
      </div>
      {caps === 'limits' && (
        <OtherBudgetsFields
          values={values.otherBudgets}
          onChange={(otherBudgets) => set('otherBudgets', otherBudgets)}
          error={otherBudgetsIssue}
        />
      )}
      <Checkbox
        label={texts.multiple}
        hint={mayAllowMultiple ? undefined : 'An operator can allow it.'}
        disabled={!mayAllowMultiple}
        checked={values.multiple_completions && mayAllowMultiple}
        onChange={({ target }) => set('multiple_completions', target.checked)}
      />
      <VersionedFormEnd<Organization>
        what={texts.conflict}
        save={save}
        onVersion={setReadVersion}
        onDiscard={(current) => setValues(valuesOf(current[caps]))}
        onCancel={onDone}
      />
    </form>
  );
}

/** A limit's ceiling, or the limit that a new ceiling lowers. */
function hintOf(caps: Caps, { limits, ceilings }: Organization, field: CountField, text: string) {
  const ceiling = ceilings[field];
  if (caps === 'limits') return ceiling === null ? '' : ` Ceiling: ${count(ceiling)}.`;
  const limit = limits[field];
  const typed = parseLimit(text);
  return limit !== null && typed !== null && typed < limit
    ? ` Lowers the limit, which is ${count(limit)}.`
    : '';
}

function budgetHintOf(caps: Caps, { limits, ceilings }: Organization, field: BudgetField, text: string) {
  const ceiling = ceilings[field];
  if (caps === 'limits') return ceiling === null ? '' : ` Ceiling: ${exactUsd(ceiling)}.`;
  const limit = limits[field];
  const lowers =
    limit !== null &&
    text.trim() !== '' &&
    budgetError(text, null) === undefined &&
    nanoUsdOf(readAmount(text)) < nanoUsdOf(limit);
  return lowers ? ` Lowers the limit, which is ${exactUsd(limit)}.` : '';
}
