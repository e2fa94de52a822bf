import { insertAuditEntry } from '@gateway/audit';
import { AUTH_SCHEMA } from '@gateway/auth-shared/adapters';
import type { SecretCipher } from '@gateway/base';
import { inTransaction, isDatabaseUnavailable, textArray } from '@gateway/database';
import type { Logger } from '@gateway/runtime';
import type { ClientBase, Pool } from 'pg';
import { HOUR_MS, MAX_RECIPIENTS, MAX_TESTS_PER_HOUR } from '../../core/notification';
import type { NotificationAdminStore, NotificationSettings } from '../../core/ports';
import { insertNotification } from './incident-store';
import { incidentOf, notificationOf, timeOf, type IncidentRow, type NotificationRow } from './rows';

/** Authenticated with the encrypted webhook, so that it cannot be used as another secret. */
const WEBHOOK_CONTEXT = 'notification_settings.webhook';

const READ = 'select email_enabled, extra_emails, webhook from notification_settings';
/** $4: the webhook stays, even if it cannot be decrypted. */
const SET = `
  update notification_settings set email_enabled = $1, extra_emails = $2::text[],
    webhook = case when $4 then webhook else $3 end`;
/** Only if it is unchanged. */
const REENCRYPT = 'update notification_settings set webhook = $2 where webhook = $1';
const OPERATORS = `select email from members where role = 'operator' order by email limit ${MAX_RECIPIENTS}`;
const TESTS_WITHIN_HOUR = `
  select count(*)::int as tests from operator_notifications
  where kind = 'test' and created_at > clock_timestamp() - make_interval(secs => ${HOUR_MS / 1_000})`;
const INCIDENTS = `
  select * from incidents
  where opened_at is not null
    or last_reported_at > clock_timestamp() - make_interval(secs => $1::float8 / 1000)
  order by since desc, cause, subject`;
const NOTIFICATIONS = `
  select notification.*, coalesce(deliveries, '[]') as deliveries
  from (select * from operator_notifications order by created_at desc, id desc limit $1) notification
  left join lateral (
    select jsonb_agg(jsonb_build_object('recipient', recipient, 'failure', failure,
      'delivered', (extract(epoch from delivered_at) * 1000)::bigint) order by recipient) as deliveries
    from notification_deliveries where notification_id = notification.id
  ) listed on true
  order by notification.created_at desc, notification.id desc`;
const ADD_SENT_DELIVERY = `
  insert into notification_deliveries (notification_id, recipient, attempts, delivered_at, failure)
  values ($1, $2, 1, $3, $4)`;

interface SettingsRow {
  readonly email_enabled: boolean;
  readonly extra_emails: readonly string[];
  readonly webhook: string | null;
}

interface ListedRow extends NotificationRow {
  readonly deliveries: readonly {
    readonly recipient: string;
    readonly failure: string | null;
    readonly delivered: number | null;
  }[];
}

export interface NotificationAdminStoreOptions {
  /** A pool of the schema `auth`. */
  readonly pool: Pool;
  /** Absent: no webhook can be configured. */
  readonly cipher: SecretCipher | undefined;
  readonly log: Logger;
  /** An incident that was not reported for this long has ended. */
  readonly currentMs: number;
}

export function createNotificationAdminStore({
  pool,
  cipher,
  log,
  currentMs,
}: NotificationAdminStoreOptions): NotificationAdminStore {
  let reportedFailure = false;

  async function readSettings(client: ClientBase | Pool, suffix = ''): Promise<NotificationSettings> {
    const { rows } = await client.query<SettingsRow>(`${READ}${suffix}`);
    const [row] = rows;
    if (!row) throw new Error('the row of the notification settings is missing');
    const { email_enabled: emailEnabled, extra_emails: extraEmails, webhook } = row;
    return {
      emailEnabled,
      extraEmails,
      webhook: webhook === null ? undefined : await decrypt(client, webhook),
    };
  }

  /** Encrypts it with the current key, if it still has an older one. */
  async function decrypt(
    client: ClientBase | Pool,
    webhook: string,
  ): Promise<NotificationSettings['webhook']> {
    try {
      if (!cipher) throw new Error('GATEWAY_SECRETS_KEY is not set');
      const decrypted = cipher.decrypt(webhook, WEBHOOK_CONTEXT);
      if (!webhook.startsWith(cipher.currentPrefix)) {
        await client.query(REENCRYPT, [webhook, cipher.encrypt(decrypted, WEBHOOK_CONTEXT)]);
      }
      return JSON.parse(decrypted) as NotificationSettings['webhook'];
    } catch (error) {
      if (isDatabaseUnavailable(error)) throw error;
      // Once: it is read every few seconds.
      if (!reportedFailure) log.error({ err: error }, 'the webhook of operators cannot be decrypted');
      reportedFailure = true;
      return undefined;
    }
  }

  return {
    async readRecipients() {
      const settings = await readSettings(pool);
      const { rows } = await pool.query<{ email: string }>(OPERATORS);
      return { settings, operatorEmails: rows.map(({ email }) => email) };
    },

    setSettings: ({ webhook, ...change }, audit) =>
      inTransaction(pool, async (client) => {
        const before = await readSettings(client, ' for update');
        const after = {
          emailEnabled: change.emailEnabled ?? before.emailEnabled,
          extraEmails: change.extraEmails ?? before.extraEmails,
          webhook: webhook === undefined ? before.webhook : (webhook ?? undefined),
        };
        await client.query(SET, [
          after.emailEnabled,
          textArray(after.extraEmails, (email) => email),
          webhook && cipher ? cipher.encrypt(JSON.stringify(webhook), WEBHOOK_CONTEXT) : null,
          webhook === undefined,
        ]);
        await insertAuditEntry(client, AUTH_SCHEMA, audit(before, after));
        return after;
      }),

    storeTest: (notification, recipients, audit) =>
      inTransaction(pool, async (client) => {
        await client.query('select from notification_settings for update');
        const { rows } = await client.query<{ tests: number }>(TESTS_WITHIN_HOUR);
        if ((rows[0]?.tests ?? 0) >= MAX_TESTS_PER_HOUR) return 'too_many';
        await insertNotification(client, notification, recipients);
        await insertAuditEntry(client, AUTH_SCHEMA, audit);
        return 'stored';
      }),

    async listIncidents() {
      const { rows } = await pool.query<IncidentRow>(INCIDENTS, [currentMs]);
      return rows.map(incidentOf);
    },

    async listNotifications(limit) {
      const { rows } = await pool.query<ListedRow>(NOTIFICATIONS, [limit]);
      return rows.map((row) => ({
        ...notificationOf(row),
        deliveries: row.deliveries.map(({ recipient, failure, delivered }) => ({
          recipient,
          failure: failure ?? undefined,
          delivered: delivered === null ? undefined : timeOf(new Date(delivered)),
        })),
      }));
    },

    addSent: (notifications) =>
      inTransaction(pool, async (client) => {
        for (const { deliveries, ...notification } of notifications) {
          await insertNotification(client, notification, []);
          for (const { recipient, delivered, failure } of deliveries) {
            const at = delivered === undefined ? null : new Date(delivered);
            await client.query(ADD_SENT_DELIVERY, [notification.id, recipient, at, failure ?? null]);
          }
        }
      }),
  };
}
