import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { api } from '../../api/client';
import { operatorNotificationsQuery, type OperatorNotifications } from '../../api/operator-notifications';
import { Button } from '../../ui/button';
import { Dialog } from '../../ui/dialog';
import { Badge, Notice } from '../../ui/notice';
import { Fact, Facts, Page, Section } from '../../ui/page';
import { Empty, Failure, FailureLine, SkeletonRows } from '../../ui/states';
import { Table, type Column } from '../../ui/table';
import { useToast } from '../../ui/toast';
import { Text, Time } from '../../ui/values';
import { WebhookSecret } from '../../ui/webhook';
import { StaleFigures } from '../credit/stale-figures';
import { NotificationSettingsForm } from './notification-settings-form';

type Incident = OperatorNotifications['incidents'][number];
type Notification = OperatorNotifications['notifications'][number];

const REFETCH_INTERVAL_MS = 5_000;
const { queryKey: QUERY_KEY } = operatorNotificationsQuery;

export function NotificationsPage() {
  const [editing, setEditing] = useState(false);
  const [secret, setSecret] = useState<string>();
  const toast = useToast();
  const queryClient = useQueryClient();
  const query = useQuery({ ...operatorNotificationsQuery, refetchInterval: REFETCH_INTERVAL_MS });
  const test = useMutation({
    mutationFn: () => api.call('POST /api/operator/notifications/test'),
    onSuccess: () => {
      toast('Test sent. Its result appears below.');
      return queryClient.invalidateQueries({ queryKey: QUERY_KEY });
    },
  });
  const data = query.data;
  return (
    <Page
      title="Notifications"
      description="Failures that an operator has to fix, and who is notified of them."
      actions={
        data && (
          <>
            <Button busy={test.isPending} onClick={() => test.mutate()}>
              Send test
            </Button>
            <Button onClick={() => setEditing(true)}>Edit</Button>
          </>
        )
      }
    >
      {query.error && !data ? (
        <Failure error={query.error} what="notifications" onRetry={() => void query.refetch()} />
      ) : !data ? (
        <SkeletonRows />
      ) : (
        <>
          <StaleFigures of={query} />
          {test.error && <FailureLine error={test.error} />}
          <Recipients of={data} />
          <Section title="Open incidents" description="Reported by the services right now.">
            {data.incidents.length === 0 ? (
              <Empty icon="check" title="No open incidents">
                Nothing needs your attention.
              </Empty>
            ) : (
              <Table
                caption="Open incidents"
                rows={data.incidents}
                columns={INCIDENT_COLUMNS}
                rowId={({ cause, subject }) => `${cause} ${subject}`}
              />
            )}
          </Section>
          <Section title="History" description="The latest 50 notifications.">
            {data.notifications.length === 0 ? (
              <p className="text-sm text-ink-soft">No notifications yet.</p>
            ) : (
              <Table
                caption="Notifications"
                rows={data.notifications}
                columns={NOTIFICATION_COLUMNS}
                rowId={({ id }) => id}
              />
            )}
          </Section>
          <Dialog open={editing} onOpenChange={setEditing} title="Notifications">
            <NotificationSettingsForm
              settings={data.settings}
              onCancel={() => setEditing(false)}
              onDone={(webhookSecret) => {
                setEditing(false);
                setSecret(webhookSecret);
                void queryClient.invalidateQueries({ queryKey: QUERY_KEY });
              }}
            />
          </Dialog>
        </>
      )}
      <WebhookSecret secret={secret} onDone={() => setSecret(undefined)} />
    </Page>
  );
}

function Recipients({ of }: { readonly of: OperatorNotifications }) {
  const { settings, sends_mail: sendsMail, operator_emails: operators } = of;
  const emails = settings.email_enabled ? [...operators, ...settings.extra_emails] : [];
  return (
    <>
      {!sendsMail && (
        <Notice title="Email is not configured">
          Set GATEWAY_SMTP_URL to send emails. Incidents are also errors in the log of auth.
        </Notice>
      )}
      <Facts>
        <Fact name="Email">
          {!sendsMail ? 'Not configured' : emails.length === 0 ? 'Off' : <Text>{emails.join(', ')}</Text>}
        </Fact>
        <Fact name="Webhook">
          {settings.webhook_host === null ? 'Off' : <Text>{settings.webhook_host}</Text>}
        </Fact>
      </Facts>
    </>
  );
}

const CAUSES: Readonly<Record<string, string>> = {
  upstream_config_error: 'Provider rejects key, address or model name',
  model_unavailable: 'Model unavailable',
  dead_letters: 'Dead letters',
  ledger_mismatch: 'Balances differ from postings',
  usage_mismatch: 'Usage differs from settlements',
  spool_not_empty: 'Spool not empty',
  database_unavailable: 'Database unavailable',
};

const INCIDENT_COLUMNS: readonly Column<Incident>[] = [
  {
    id: 'incident',
    header: 'Incident',
    cell: ({ row: { original: incident } }) => (
      <div>
        <p className="font-medium">{CAUSES[incident.cause] ?? incident.cause}</p>
        <p className="text-xs text-ink-soft">
          <Text>{incident.subject}</Text>: <Text>{incident.details}</Text>
        </p>
      </div>
    ),
  },
  { id: 'since', header: 'Since', cell: ({ row }) => <Time at={row.original.since} /> },
  {
    id: 'notified',
    header: 'Notified',
    cell: ({ row: { original: incident } }) =>
      incident.notified_at === null ? 'Not yet' : <Time at={incident.notified_at} />,
  },
];

const NOTIFICATION_COLUMNS: readonly Column<Notification>[] = [
  { id: 'time', header: 'Time', cell: ({ row }) => <Time at={row.original.created_at} /> },
  {
    id: 'notification',
    header: 'Notification',
    cell: ({ row: { original: notification } }) => (
      <div>
        <p className="font-medium">{notification.title}</p>
        {notification.subjects.map((subject) => (
          <p key={subject} className="text-xs text-ink-soft">
            <Text>{subject}</Text>
          </p>
        ))}
      </div>
    ),
  },
  {
    id: 'deliveries',
    header: 'Delivery',
    cell: ({ row: { original: notification } }) =>
      notification.deliveries.length === 0 ? (
        <span className="text-ink-soft">No recipient</span>
      ) : (
        <ul className="grid gap-1">
          {notification.deliveries.map((delivery) => (
            <li key={delivery.recipient} className="text-xs">
              <Text>{delivery.recipient}</Text> <DeliveryState of={delivery} />
            </li>
          ))}
        </ul>
      ),
  },
];

function DeliveryState({ of }: { readonly of: Notification['deliveries'][number] }) {
  if (of.delivered_at !== null) return <Badge tone="good">Delivered</Badge>;
  if (of.failure === null) return <Badge>Sending</Badge>;
  return (
    <>
      <Badge tone="bad">Failed</Badge> <Text>{of.failure}</Text>
    </>
  );
}
