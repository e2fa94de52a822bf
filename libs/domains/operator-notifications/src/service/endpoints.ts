import { randomBytes } from 'node:crypto';
import { implement, type Implementation } from '@gateway/admin-calls';
import { changedFields } from '@gateway/auth-shared';
import { auditOf, isEmailAddress, type Clock } from '@gateway/base';
import { DashboardError, endpoints } from '@gateway/dashboard-contract';
import { MAX_LISTED_NOTIFICATIONS } from '../core/notification';
import type { NotificationAdminStore } from '../core/ports';
import { recipientsOf } from './dispatcher';
import { incidentView, notificationView, settingsView } from './views';

export interface NotificationEndpointPorts {
  readonly admin: NotificationAdminStore;
  readonly sendsMail: boolean;
  /** Whether secrets can be encrypted, so that a webhook can be stored. */
  readonly storesSecrets: boolean;
  readonly webhookUrlIssue: (url: string) => string | undefined;
  readonly newId: (prefix: string) => string;
  readonly clock: Clock;
}

/** Settings and history of the notifications that operators get by email and webhook. */
export function createNotificationEndpoints(ports: NotificationEndpointPorts): readonly Implementation[] {
  const { admin, sendsMail, newId, clock } = ports;

  /** Undefined: unchanged. Null: none. */
  function webhookOf(url: string | null | undefined): { url: string; secret: string } | null | undefined {
    if (url === undefined) return undefined;
    if (url === null || url === '') return null;
    if (!ports.storesSecrets)
      throw invalid('webhook_url', 'cannot be stored: GATEWAY_SECRETS_KEY is not set for auth');
    const issue = ports.webhookUrlIssue(url);
    if (issue) throw invalid('webhook_url', issue);
    return { url, secret: `whsec_${randomBytes(32).toString('base64url')}` };
  }

  return [
    implement(endpoints.notifications.get, async () => {
      const [{ settings, operatorEmails }, incidents, notifications] = await Promise.all([
        admin.readRecipients(),
        admin.listIncidents(),
        admin.listNotifications(MAX_LISTED_NOTIFICATIONS),
      ]);
      return {
        settings: settingsView(settings),
        sends_mail: sendsMail,
        operator_emails: operatorEmails,
        incidents: incidents.map(incidentView),
        notifications: notifications.map(notificationView),
      };
    }),

    implement(endpoints.notifications.set, async ({ body, actor }) => {
      const { email_enabled: emailEnabled } = body;
      const extraEmails = body.extra_emails === null ? [] : body.extra_emails;
      const index = extraEmails?.findIndex((email) => !isEmailAddress(email)) ?? -1;
      if (index !== -1) throw invalid(`extra_emails[${index}]`, 'must be an email address');
      const webhook = webhookOf(body.webhook_url);
      const settings = await admin.setSettings({ emailEnabled, extraEmails, webhook }, (before, after) => {
        const change = { actor, action: 'operator_notifications.set', target: 'operator_notifications' };
        return auditOf(
          { ...change, details: changedFields(settingsView(before), settingsView(after)) },
          ports,
        );
      });
      return { settings: settingsView(settings), webhook_secret: webhook?.secret ?? null };
    }),

    implement(endpoints.notifications.test, async ({ actor }) => {
      const recipients = recipientsOf(await admin.readRecipients(), sendsMail);
      if (recipients.length === 0) {
        throw new DashboardError('conflict', {
          message:
            'The notification has no recipient. Set a webhook, or turn on email with a mail server configured.',
        });
      }
      const test = {
        id: newId('ntf'),
        createdAt: clock.now(),
        kind: 'test' as const,
        cause: undefined,
        subjects: [],
      };
      const change = { actor, action: 'operator_notifications.test', target: 'operator_notifications' };
      const outcome = await admin.storeTest(test, recipients, auditOf({ ...change, details: {} }, ports));
      if (outcome === 'too_many') {
        throw new DashboardError('conflict', {
          message: 'Ten test notifications were sent within the last hour. Try again later.',
        });
      }
      return { recipients: recipients.length };
    }),
  ];
}

function invalid(param: string, what: string): DashboardError {
  return new DashboardError('invalid', { param, message: `${param} ${what}.` });
}
