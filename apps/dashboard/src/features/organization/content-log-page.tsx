import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { getRouteApi } from '@tanstack/react-router';
import { useState } from 'react';
import { api } from '../../api/client';
import { contentLogQuery, type ContentLog } from '../../api/content-log';
import { usePermission } from '../../api/session';
import { blockingErrorOf } from '../../api/transient-error';
import { count } from '../../format/count';
import { Button } from '../../ui/button';
import { Confirm } from '../../ui/confirm';
import { Checkbox, Field, Input } from '../../ui/field';
import { Form } from '../../ui/form';
import { Badge, Notice } from '../../ui/notice';
import { Fact, Facts, Page, Section } from '../../ui/page';
import { Failure, FailureLine, SkeletonRows } from '../../ui/states';
import { useToast } from '../../ui/toast';

const route = getRouteApi('/signed-in/o/$organizationId/content-log');

/** Whether prompts and responses are stored: visible to everyone whose prompts they are. */
export function ContentLogPage() {
  const { organizationId } = route.useParams();
  const query = useQuery(contentLogQuery(organizationId));
  const failure = blockingErrorOf(query);
  const mayManage = usePermission(organizationId)('content_log:manage');
  return (
    <Page
      narrow
      title="Content log"
      description="Stores the prompts and responses of all keys, encrypted. Only owners can read them, and each access is in the audit log."
    >
      {failure ? (
        <Failure error={failure} what="content log" onRetry={() => void query.refetch()} />
      ) : !query.data ? (
        <SkeletonRows rows={3} />
      ) : (
        <>
          <Section title="Status">
            <Facts>
              <Fact name="Prompts and responses">
                {query.data.enabled ? (
                  <Badge tone="good">Stored</Badge>
                ) : (
                  <>
                    <Badge tone="faint">Not stored</Badge>
                    {query.data.has_contents && ' Earlier ones are stored.'}
                  </>
                )}
              </Fact>
              {(query.data.enabled || query.data.has_contents) && (
                <Fact name="Deleted after">{days(query.data.retention_days)}</Fact>
              )}
              <Fact name="Size">
                Prompts and responses above {count(Math.round(query.data.max_bytes / 1024))} KiB are cut.
                Images are not stored.
              </Fact>
            </Facts>
          </Section>
          {!query.data.available ? (
            <Notice tone="warn" title="Not available">
              The platform has no key to encrypt content. An operator can configure one.
            </Notice>
          ) : mayManage ? (
            <Manage key={String(query.data.enabled)} organizationId={organizationId} log={query.data} />
          ) : (
            <p className="text-sm text-ink-soft">Only owners of the organization can change this.</p>
          )}
        </>
      )}
    </Page>
  );
}

interface ManageProps {
  readonly organizationId: string;
  readonly log: ContentLog;
}

function Manage({ organizationId, log }: ManageProps) {
  const [retention, setRetention] = useState(String(log.retention_days));
  const [erase, setErase] = useState(false);
  const [dialog, openDialog] = useState<'set' | 'erase'>();
  const queryClient = useQueryClient();
  const toast = useToast();
  const chosen = /^\d{1,3}$/.test(retention.trim()) ? Number(retention) : 0;
  const issue =
    chosen < 1 || chosen > log.max_retention_days
      ? `Enter a number from 1 to ${log.max_retention_days}.`
      : undefined;
  const params = { organization_id: organizationId };
  const set = useMutation({
    mutationFn: (enabled: boolean) =>
      api.call('PUT /api/organizations/{organization_id}/content-log', {
        params,
        body: { enabled, retention_days: enabled ? chosen : log.retention_days, erase: !enabled && erase },
      }),
    onSuccess: ({ content_log: changed }) => {
      queryClient.setQueryData(contentLogQuery(organizationId).queryKey, changed);
      openDialog(undefined);
      toast(changed.enabled ? 'The content log is on.' : 'The content log is off.');
    },
  });
  const eraseAll = useMutation({
    mutationFn: () =>
      api.call('DELETE /api/organizations/{organization_id}/content-log/contents', { params }),
    onSuccess: async () => {
      await queryClient.invalidateQueries(contentLogQuery(organizationId));
      openDialog(undefined);
      toast('All prompts and responses were erased.');
    },
  });
  return (
    <Section title="Settings">
      <Form
        noValidate
        className="grid max-w-md gap-5"
        onSubmit={() => {
          if (issue !== undefined) return;
          if (log.enabled) set.mutate(true);
          else openDialog('set');
        }}
      >
        <Field
          label="Days until deletion"
          hint={`At most ${log.max_retention_days}. A shorter time also applies to what is stored.`}
          error={issue}
        >
          <Input
            inputMode="numeric"
            value={retention}
            onChange={({ target }) => setRetention(target.value)}
          />
        </Field>
        {set.error && dialog === undefined && <FailureLine error={set.error} />}
        <div className="flex flex-wrap gap-2">
          <Button type="submit" kind="primary" busy={set.isPending && dialog === undefined}>
            {log.enabled ? 'Save' : 'Turn on'}
          </Button>
          {log.enabled && <Button onClick={() => openDialog('set')}>Turn off</Button>}
          {(log.enabled || log.has_contents) && (
            <Button kind="danger" onClick={() => openDialog('erase')}>
              Erase everything
            </Button>
          )}
        </div>
      </Form>
      <Confirm
        open={dialog === 'set'}
        onOpenChange={(open) => openDialog(open ? 'set' : undefined)}
        title={log.enabled ? 'Turn off the content log?' : 'Store prompts and responses?'}
        action={log.enabled ? 'Turn off' : 'Turn on'}
        danger={!log.enabled}
        of={set}
        onConfirm={() => set.mutate(!log.enabled)}
      >
        {log.enabled ? (
          <>
            <p>No further prompts and responses are stored.</p>
            <Checkbox
              label="Erase everything that is stored"
              hint={`Otherwise it stays until it is ${days(log.retention_days)} old.`}
              checked={erase}
              onChange={({ target }) => setErase(target.checked)}
            />
          </>
        ) : (
          <p>
            The prompts and responses of all keys are stored for {days(chosen)}, and all owners can read them.
            Tell the people whose data they contain.
          </p>
        )}
      </Confirm>
      <Confirm
        danger
        open={dialog === 'erase'}
        onOpenChange={(open) => openDialog(open ? 'erase' : undefined)}
        title="Erase all prompts and responses?"
        action="Erase everything"
        of={eraseAll}
        onConfirm={() => eraseAll.mutate()}
      >
        <p>
          They cannot be restored. Generations, usage and charges stay.
          {log.enabled && ' The content log stays on.'}
        </p>
      </Confirm>
    </Section>
  );
}

function days(number: number): string {
  return number === 1 ? '1 day' : `${count(number)} days`;
}
