import type { Result } from '@gateway/dashboard-contract/client';
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { api } from '../../api/client';
import { blockingErrorOf } from '../../api/transient-error';
import { Button } from '../../ui/button';
import { Dialog } from '../../ui/dialog';
import { Field, Input, TextArea } from '../../ui/field';
import { DialogForm } from '../../ui/form';
import { Notice } from '../../ui/notice';
import { Fact, Facts, Section } from '../../ui/page';
import { Failure, FailureLine, SkeletonRows } from '../../ui/states';
import { useToast } from '../../ui/toast';
import { Money, Text, TimeOrNever } from '../../ui/values';
import { WebhookFields, WebhookSecret } from '../../ui/webhook';
import { amountError } from './amounts';

type Alert = Result<'GET /api/organizations/{organization_id}/credit-alert'>['alert'];

interface CreditAlertProps {
  readonly organizationId: string;
  readonly editable: boolean;
}

export function CreditAlert({ organizationId, editable }: CreditAlertProps) {
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
      if (delivered) toast('Test alert delivered.');
      else toast(`Test alert failed: ${failure ?? 'unknown reason'}`, { failed: true });
      return queryClient.invalidateQueries({ queryKey });
    },
  });
  const alert = query.data;
  const hasRecipient = alert !== undefined && (alert.webhook_origin !== null || alert.emails.length > 0);
  return (
    <Section
      title="Alerts"
      description="About a low balance, and about budgets of the organization, projects and keys."
      actions={
        editable &&
        alert && (
          <>
            {hasRecipient && (
              <Button small busy={test.isPending} onClick={() => test.mutate()}>
                Send test
              </Button>
            )}
            <Button small onClick={() => setEditing(true)}>
              Edit
            </Button>
          </>
        )
      }
    >
      {blockingErrorOf(query) ? (
        <Failure error={query.error} what="alerts" onRetry={() => void query.refetch()} />
      ) : !alert ? (
        <SkeletonRows rows={3} />
      ) : (
        <>
          {alert.last_failure !== null && (
            <Notice tone="warn" title="The last low-balance alert could not be delivered">
              <Text>{alert.last_failure}</Text>
            </Notice>
          )}
          {test.error && <FailureLine error={test.error} />}
          <Facts>
            <Fact name="Budgets">
              {alert.budget_shares.length === 0
                ? 'Off'
                : `${alert.budget_shares.map((share) => `${share}%`).join(', ')}: to owners, admins, billing and the webhook`}
            </Fact>
            <Fact name="Low balance">
              {alert.threshold_usd === null ? (
                'Off'
              ) : (
                <>
                  Below <Money usd={alert.threshold_usd} digits="all" />
                  {hasRecipient
                    ? ', to the webhook and the email addresses'
                    : '. No one is notified: add a webhook or an email address.'}
                </>
              )}
            </Fact>
            <Fact name="Webhook">
              {alert.webhook_origin === null ? '—' : <Text>{`${alert.webhook_origin}/…`}</Text>}
            </Fact>
            <Fact name="Low-balance emails">
              {alert.emails.length === 0 ? '—' : <Text>{alert.emails.join(', ')}</Text>}
            </Fact>
            <Fact name="Last low-balance alert">
              <TimeOrNever at={alert.last_sent_at} />
            </Fact>
          </Facts>
        </>
      )}
      {alert && (
        <Dialog open={editing} onOpenChange={setEditing} title="Alerts">
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
      <WebhookSecret secret={secret} onDone={() => setSecret(undefined)} />
    </Section>
  );
}

/** As the server bounds them. */
const MAX_SHARES = 5;

interface AlertFormProps {
  readonly organizationId: string;
  readonly alert: Alert;
  readonly onDone: (webhookSecret: string | undefined) => void;
  readonly onCancel: () => void;
}

function AlertForm({ organizationId, alert, onDone, onCancel }: AlertFormProps) {
  const [threshold, setThreshold] = useState(alert.threshold_usd ?? '');
  const [webhook, setWebhook] = useState('');
  const [removesWebhook, setRemovesWebhook] = useState(false);
  const [emails, setEmails] = useState(alert.emails.join('\n'));
  const [shares, setShares] = useState(alert.budget_shares.join(', '));
  const percents = shares
    .split(/[\s,;%]+/)
    .filter(Boolean)
    .map(Number);
  const sharesIssue =
    percents.length <= MAX_SHARES &&
    percents.every((share) => Number.isInteger(share) && share >= 1 && share <= 100)
      ? undefined
      : 'Enter at most 5 whole numbers from 1 to 100.';
  const thresholdIssue = threshold.trim() === '' ? undefined : amountError(threshold);
  const save = useMutation({
    mutationFn: () =>
      api.call('PUT /api/organizations/{organization_id}/credit-alert', {
        params: { organization_id: organizationId },
        body: {
          threshold_usd: threshold.trim() || null,
          ...(removesWebhook
            ? { webhook_url: null }
            : webhook.trim() === ''
              ? {}
              : { webhook_url: webhook.trim() }),
          emails: emails.split(/[\s,;]+/).filter(Boolean),
          budget_shares: percents,
        },
      }),
    onSuccess: ({ webhook_secret: secret }) => onDone(secret ?? undefined),
  });
  return (
    <DialogForm
      of={save}
      action="Save"
      noValidate
      onSubmit={() => {
        if (thresholdIssue === undefined && sharesIssue === undefined) save.mutate();
      }}
      onCancel={onCancel}
    >
      <Field
        label="Budget alerts at (%)"
        hint="Sent once per period to owners, admins and billing, and to the webhook. Leave empty to disable."
        error={sharesIssue}
      >
        <Input value={shares} onChange={({ target }) => setShares(target.value)} />
      </Field>
      <Field
        label="Low-balance threshold (USD)"
        hint="Sent once when the available amount falls below it. Leave empty to disable."
        error={thresholdIssue}
      >
        <Input inputMode="decimal" value={threshold} onChange={({ target }) => setThreshold(target.value)} />
      </Field>
      <WebhookFields
        stored={alert.webhook_origin === null ? null : `${alert.webhook_origin}/…`}
        placeholder="https://example.com/credit"
        url={webhook}
        onUrl={setWebhook}
        removed={removesWebhook}
        onRemoved={setRemovesWebhook}
      />
      <Field
        label="Low-balance emails"
        optional
        hint="Up to 20 addresses, one per line. Budget alerts need none."
      >
        <TextArea rows={3} value={emails} onChange={({ target }) => setEmails(target.value)} />
      </Field>
    </DialogForm>
  );
}
