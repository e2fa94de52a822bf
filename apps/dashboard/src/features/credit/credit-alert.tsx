import type { Result } from '@gateway/dashboard-contract/client';
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { api } from '../../api/client';
import { Button } from '../../ui/button';
import { CopyButton } from '../../ui/copy';
import { Dialog, DialogActions } from '../../ui/dialog';
import { Field, Input, TextArea } from '../../ui/field';
import { Notice } from '../../ui/notice';
import { Fact, Facts, Section } from '../../ui/page';
import { Failure, FailureLine, SkeletonRows } from '../../ui/states';
import { useToast } from '../../ui/toast';
import { Money, Text, Time } from '../../ui/values';
import { faultOfAmount } from './amounts';

type Alert = Result<'GET /api/organizations/{organization_id}/credit-alert'>['alert'];

interface CreditAlertProps {
  readonly organizationId: string;
  readonly changeable: boolean;
}

/** When and whom a low balance is told to. */
export function CreditAlert({ organizationId, changeable }: CreditAlertProps) {
  const [editing, setEditing] = useState(false);
  const [secret, setSecret] = useState<string>();
  const toast = useToast();
  const params = { organization_id: organizationId };
  const queryClient = useQueryClient();
  const queryKey = ['credit-alert', organizationId];
  const query = useQuery({
    queryKey,
    queryFn: async ({ signal }) =>
      (await api.call('GET /api/organizations/{organization_id}/credit-alert', { params, signal })).alert,
  });
  const test = useMutation({
    mutationFn: () => api.call('POST /api/organizations/{organization_id}/credit-alert/test', { params }),
    onSuccess: ({ delivered, failure }) => {
      toast(delivered ? 'The test arrived.' : `The test did not arrive: ${failure ?? 'no reason is known'}`);
      return queryClient.invalidateQueries({ queryKey });
    },
  });
  const alert = query.data;
  const goesSomewhere = alert !== undefined && (alert.webhook_url !== null || alert.emails.length > 0);
  return (
    <Section
      title="Running low"
      description="One alert when the available amount falls below the threshold; the next only after it was above again."
      actions={
        changeable &&
        alert && (
          <>
            {goesSomewhere && (
              <Button small busy={test.isPending} onClick={() => test.mutate()}>
                Send a test
              </Button>
            )}
            <Button small onClick={() => setEditing(true)}>
              Change
            </Button>
          </>
        )
      }
    >
      {query.error ? (
        <Failure error={query.error} what="the alert" onRetry={() => void query.refetch()} />
      ) : !alert ? (
        <SkeletonRows rows={3} />
      ) : (
        <>
          {alert.last_failure !== null && (
            <Notice tone="warn" title="The last alert did not arrive">
              <Text>{alert.last_failure}</Text>
            </Notice>
          )}
          {test.error && <FailureLine error={test.error} />}
          {alert.threshold_usd === null && !goesSomewhere ? (
            <p className="text-sm text-ink-soft">
              No threshold is set: nobody is told.{changeable && ' “Change” sets one.'}
            </p>
          ) : (
            <Facts>
              <Fact name="Threshold">
                {alert.threshold_usd === null ? 'None: nobody is told' : <Money usd={alert.threshold_usd} />}
              </Fact>
              <Fact name="Webhook">
                {alert.webhook_url === null ? '—' : <Text>{alert.webhook_url}</Text>}
              </Fact>
              <Fact name="Mail">
                {alert.emails.length === 0 ? '—' : <Text>{alert.emails.join(', ')}</Text>}
              </Fact>
              <Fact name="Last sent">
                {alert.last_sent_at === null ? 'Never' : <Time at={alert.last_sent_at} />}
              </Fact>
            </Facts>
          )}
        </>
      )}
      {alert && (
        <Dialog open={editing} onOpenChange={setEditing} title="Tell when credit runs low">
          <AlertForm
            organizationId={organizationId}
            alert={alert}
            onDone={(webhookSecret) => {
              setEditing(false);
              setSecret(webhookSecret);
              void queryClient.invalidateQueries({ queryKey });
              void queryClient.invalidateQueries({ queryKey: ['live', organizationId] });
            }}
            onCancel={() => setEditing(false)}
          />
        </Dialog>
      )}
      <Dialog
        insistent
        open={secret !== undefined}
        onOpenChange={() => setSecret(undefined)}
        title="The secret of the webhook"
        description="Each call is signed with it. It is shown this once."
      >
        <div className="grid gap-4">
          <Input readOnly aria-label="The secret" className="font-mono" value={secret ?? ''} />
          <DialogActions>
            <CopyButton text={secret ?? ''} what="the secret" />
            <Button kind="primary" onClick={() => setSecret(undefined)}>
              I have kept it
            </Button>
          </DialogActions>
        </div>
      </Dialog>
    </Section>
  );
}

interface AlertFormProps {
  readonly organizationId: string;
  readonly alert: Alert;
  readonly onDone: (webhookSecret: string | undefined) => void;
  readonly onCancel: () => void;
}

function AlertForm({ organizationId, alert, onDone, onCancel }: AlertFormProps) {
  const [threshold, setThreshold] = useState(alert.threshold_usd ?? '');
  const [webhook, setWebhook] = useState(alert.webhook_url ?? '');
  const [emails, setEmails] = useState(alert.emails.join('\n'));
  const fault = threshold.trim() === '' ? undefined : faultOfAmount(threshold);
  const save = useMutation({
    mutationFn: () =>
      api.call('PUT /api/organizations/{organization_id}/credit-alert', {
        params: { organization_id: organizationId },
        body: {
          threshold_usd: threshold.trim() || null,
          webhook_url: webhook.trim() || null,
          emails: emails.split(/[\s,;]+/).filter(Boolean),
        },
      }),
    onSuccess: ({ webhook_secret: secret }) => onDone(secret ?? undefined),
  });
  return (
    <form
      noValidate
      className="grid gap-4"
      onSubmit={(event) => {
        event.preventDefault();
        if (fault === undefined) save.mutate();
      }}
    >
      <Field label="Threshold, US dollars" hint="Empty: nobody is told." error={fault}>
        <Input inputMode="decimal" value={threshold} onChange={({ target }) => setThreshold(target.value)} />
      </Field>
      <Field label="Webhook" optional hint="An address that takes a POST with JSON.">
        <Input
          type="url"
          placeholder="https://example.com/credit"
          value={webhook}
          onChange={({ target }) => setWebhook(target.value)}
        />
      </Field>
      <Field label="Mail to" optional hint="One address a line.">
        <TextArea rows={3} value={emails} onChange={({ target }) => setEmails(target.value)} />
      </Field>
      {save.error && <FailureLine error={save.error} />}
      <DialogActions>
        <Button onClick={onCancel}>Cancel</Button>
        <Button type="submit" kind="primary" busy={save.isPending}>
          Save
        </Button>
      </DialogActions>
    </form>
  );
}
