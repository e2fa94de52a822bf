import { randomBytes } from 'node:crypto';
import { changedFields } from '@gateway/auth-shared';
import { auditOf, isEmailAddress, isIncidentCause, type Clock, type Incident } from '@gateway/base';
import type { IncidentsDefinition, OperatorNotificationsDefinition } from '@gateway/contracts/auth';
import { GatewayError } from '@gateway/errors';
import { actorOf, type RpcHandlers } from '@gateway/rpc';
import { MAX_LISTED_NOTIFICATIONS } from '../core/notification';
import type { IncidentStore, NotificationAdminStore, NotificationSettings } from '../core/ports';
import { recipientsOf } from './dispatcher';
import { incidentMessage, notificationMessage, settingsMessage } from './messages';

const MAX_INCIDENTS_PER_REPORT = 100;
const MAX_SUBJECT_CHARACTERS = 200;
const MAX_DETAILS_CHARACTERS = 300;
const MAX_EXTRA_EMAILS = 20;

export function createIncidentHandlers(store: IncidentStore): RpcHandlers<typeof IncidentsDefinition> {
  return {
    async reportIncidents({ incidents }) {
      if (incidents.length > MAX_INCIDENTS_PER_REPORT) throw invalid('incidents', 'has too many entries');
      await store.report(
        incidents.flatMap(({ cause, subject, details }): Incident[] => {
          if (!isIncidentCause(cause)) return [];
          const line = { subject: lineOf(subject, MAX_SUBJECT_CHARACTERS) };
          return [{ cause, ...line, details: lineOf(details, MAX_DETAILS_CHARACTERS) }];
        }),
      );
      return {};
    },
  };
}

/** One printable line: the text goes into emails. */
function lineOf(text: string, maxCharacters: number): string {
  return text.replace(/[\p{Cc}\p{Cs}\u2028\u2029]+/gu, ' ').slice(0, maxCharacters);
}

export interface NotificationHandlerPorts {
  readonly admin: NotificationAdminStore;
  readonly sendsMail: boolean;
  /** Whether secrets can be encrypted, so that a webhook can be stored. */
  readonly storesSecrets: boolean;
  readonly webhookUrlIssue: (url: string) => string | undefined;
  readonly newId: (prefix: string) => string;
  readonly clock: Clock;
}

export function createNotificationHandlers(
  ports: NotificationHandlerPorts,
): RpcHandlers<typeof OperatorNotificationsDefinition> {
  const { admin, sendsMail, newId, clock } = ports;
  return {
    async getNotifications() {
      const [{ settings, operatorEmails }, incidents, notifications] = await Promise.all([
        admin.readRecipients(),
        admin.listIncidents(),
        admin.listNotifications(MAX_LISTED_NOTIFICATIONS),
      ]);
      return {
        settings: settingsMessage(settings),
        sendsMail,
        operatorEmails: [...operatorEmails],
        incidents: incidents.map(incidentMessage),
        notifications: notifications.map(notificationMessage),
      };
    },

    async setNotificationSettings({ emailEnabled, extraEmails, webhookUrl }, context) {
      if (extraEmails.length > MAX_EXTRA_EMAILS)
        throw invalid('extra_emails', `must have at most ${MAX_EXTRA_EMAILS} entries`);
      const index = extraEmails.findIndex((email) => !isEmailAddress(email));
      if (index !== -1) throw invalid(`extra_emails[${index}]`, 'must be an email address');
      const webhook = webhookOf(webhookUrl);
      const actor = actorOf(context);
      const settings = await admin.setSettings({ emailEnabled, extraEmails, webhook }, (before, after) => {
        const change = { actor, action: 'operator_notifications.set', target: 'operator_notifications' };
        return auditOf({ ...change, details: changedFields(auditedOf(before), auditedOf(after)) }, ports);
      });
      return { settings: settingsMessage(settings), webhookSecret: webhook?.secret };
    },

    async sendTestNotification(_request, context) {
      const recipients = recipientsOf(await admin.readRecipients(), sendsMail);
      if (recipients.length === 0) return { recipients: 0, tooMany: false };
      const test = {
        id: newId('ntf'),
        created: clock.now(),
        kind: 'test' as const,
        cause: undefined,
        subjects: [],
      };
      const change = {
        actor: actorOf(context),
        action: 'operator_notifications.test',
        target: 'operator_notifications',
      };
      const outcome = await admin.storeTest(test, recipients, auditOf({ ...change, details: {} }, ports));
      return { recipients: recipients.length, tooMany: outcome === 'too_many' };
    },
  };

  /** Undefined: unchanged. Null: none. */
  function webhookOf(url: string | undefined): { url: string; secret: string } | null | undefined {
    if (url === undefined) return undefined;
    if (url === '') return null;
    if (!ports.storesSecrets)
      throw invalid('webhook_url', 'cannot be stored: GATEWAY_SECRETS_KEY is not set for auth');
    const issue = ports.webhookUrlIssue(url);
    if (issue) throw invalid('webhook_url', issue);
    return { url, secret: `whsec_${randomBytes(32).toString('base64url')}` };
  }
}

/** The URL's path and the secret stay out of the audit log. */
function auditedOf({ emailEnabled, extraEmails, webhook }: NotificationSettings) {
  return {
    email_enabled: emailEnabled,
    extra_emails: extraEmails,
    webhook_host: webhook ? new URL(webhook.url).host : null,
  };
}

function invalid(param: string, what: string): GatewayError {
  return new GatewayError('invalid_request', { param, message: `${param} ${what}.` });
}
