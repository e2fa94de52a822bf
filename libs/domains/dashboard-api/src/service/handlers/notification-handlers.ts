import { isoTime, timeOrNull } from '@gateway/admin-calls';
import type { GetNotificationsResponse, NotificationSettings } from '@gateway/contracts/auth';
import { DashboardError, endpoints } from '@gateway/dashboard-contract';
import { implement, type Implementation } from '../http/implement';
import type { DashboardApiPorts } from '../ports';

export function createNotificationHandlers({ notifications }: DashboardApiPorts): readonly Implementation[] {
  return [
    implement(endpoints.notifications.get, async () => {
      const response = await notifications.getNotifications({});
      return {
        settings: settingsView(response.settings),
        sends_mail: response.sendsMail,
        operator_emails: response.operatorEmails,
        incidents: response.incidents.map(incidentView),
        notifications: response.notifications.map(notificationView),
      };
    }),

    implement(endpoints.notifications.set, async ({ body }) => {
      const { settings, webhookSecret } = await notifications.setNotificationSettings({
        emailEnabled: body.email_enabled,
        extraEmails: body.extra_emails,
        webhookUrl: body.webhook_url,
      });
      return { settings: settingsView(settings), webhook_secret: webhookSecret ?? null };
    }),

    implement(endpoints.notifications.test, async () => {
      const { recipients, tooMany } = await notifications.sendTestNotification({});
      if (tooMany) {
        throw new DashboardError('conflict', {
          message: 'Ten test notifications were sent within the last hour. Try again later.',
        });
      }
      if (recipients === 0) {
        throw new DashboardError('conflict', {
          message:
            'The notification has no recipient. Set a webhook, or turn on email with a mail server configured.',
        });
      }
      return { recipients };
    }),
  ];
}

function settingsView(settings: NotificationSettings | undefined) {
  if (!settings) throw new Error('the response has no settings');
  return {
    email_enabled: settings.emailEnabled,
    extra_emails: settings.extraEmails,
    webhook_host: settings.webhookHost ?? null,
  };
}

function incidentView(open: GetNotificationsResponse['incidents'][number]) {
  const { incident, sinceUnixMs, lastReportedUnixMs, notifiedUnixMs } = open;
  return {
    cause: incident?.cause ?? '',
    subject: incident?.subject ?? '',
    details: incident?.details ?? '',
    since: isoTime(sinceUnixMs),
    last_reported_at: isoTime(lastReportedUnixMs),
    notified_at: timeOrNull(notifiedUnixMs),
  };
}

const KINDS = ['opened', 'reminder', 'recovered', 'test'] as const;

function notificationView(notification: GetNotificationsResponse['notifications'][number]) {
  const { id, createdUnixMs, kind, cause, title, subjects, deliveries } = notification;
  return {
    id,
    created_at: isoTime(createdUnixMs),
    kind: KINDS.find((known) => known === kind) ?? 'opened',
    cause: cause === '' ? null : cause,
    title,
    subjects,
    deliveries: deliveries.map(({ recipient, deliveredUnixMs, failure }) => ({
      recipient,
      delivered_at: timeOrNull(deliveredUnixMs),
      failure: failure ?? null,
    })),
  };
}
