import type { Incident, UnixMs } from '@gateway/base';
import { inTransaction, textArray } from '@gateway/database';
import type { ClientBase, Pool } from 'pg';
import type { NotificationTiming, TrackedIncident } from '../../core/incident-rule';
import { decideNotifications, HOUR_MS, type OperatorNotification } from '../../core/notification';
import { MAX_DELIVERY_ATTEMPTS, retryAfterMs, type DueDelivery, type IncidentStore } from '../../core/ports';
import { incidentOf, notificationOf, type IncidentRow, type NotificationRow } from './rows';

/** Further incidents are not stored until others have ended. */
const MAX_INCIDENTS = 500;
/** A claimed delivery is due again after this. Longer than a delivery with all its timeouts. */
const DELIVERY_LEASE_MS = 60_000;
const HISTORY_DAYS = 90;

/** In the order of the primary key, like the locks of `decide`, so that they cannot deadlock. */
const REPORT = `
  insert into incidents as known (cause, subject, details, since, last_reported_at)
  select cause, subject, details, now(), now()
  from unnest($1::text[], $2::text[], $3::text[]) as reported (cause, subject, details)
  where (select count(*) from incidents) < ${MAX_INCIDENTS}
    or exists (select from incidents one where (one.cause, one.subject) = (reported.cause, reported.subject))
  order by cause collate "C", subject collate "C"
  on conflict (cause, subject) do update set
    details = excluded.details,
    since = case
      when known.opened_at is null
        and known.last_reported_at <= excluded.last_reported_at - make_interval(secs => $4::float8 / 1000)
      then excluded.since else known.since end,
    last_reported_at = excluded.last_reported_at`;

const LOCK = 'select from notification_settings for update skip locked';
const LIST = 'select *, clock_timestamp() as now from incidents order by cause, subject for update';
const SENT_WITHIN_HOUR = `
  select cause, count(*)::int as sent from operator_notifications
  where created_at > clock_timestamp() - make_interval(secs => ${HOUR_MS / 1_000}) and cause is not null
  group by cause`;
const FORGET = 'delete from incidents where cause = $1 and subject = $2';
const CHANGE = 'update incidents set opened_at = $3, last_notified_at = $4 where cause = $1 and subject = $2';
const DELETE_OLD = `
  delete from operator_notifications where created_at < clock_timestamp() - interval '${HISTORY_DAYS} days'`;

const CLAIM_DUE = `
  update notification_deliveries delivery
  set attempts = delivery.attempts + 1,
      due_at = clock_timestamp() + make_interval(secs => ${DELIVERY_LEASE_MS / 1_000})
  from (
    select notification_id, recipient from notification_deliveries
    where due_at <= clock_timestamp() order by due_at limit $1
    for update skip locked
  ) due
  join operator_notifications notification on notification.id = due.notification_id
  where (delivery.notification_id, delivery.recipient) = (due.notification_id, due.recipient)
  returning delivery.recipient, delivery.attempts, notification.*`;

const DELIVERED = `
  update notification_deliveries set due_at = null, delivered_at = clock_timestamp(), failure = null
  where notification_id = $1 and recipient = $2`;
const FAILED = `
  update notification_deliveries set failure = $3,
    due_at = case when attempts < ${MAX_DELIVERY_ATTEMPTS}
      then clock_timestamp() + make_interval(secs => $4::float8 / 1000) end
  where notification_id = $1 and recipient = $2`;

export interface PostgresIncidentStoreOptions {
  /** A pool of the schema `auth`. */
  readonly pool: Pool;
  readonly timing: NotificationTiming;
  readonly newId: () => string;
}

/** Incidents in auth's database. The lock on the settings' row lets one process decide at a time. */
export function createPostgresIncidentStore({
  pool,
  timing,
  newId,
}: PostgresIncidentStoreOptions): IncidentStore {
  return {
    async report(incidents) {
      if (incidents.length === 0) return;
      // A statement cannot insert the same row twice.
      const unique = [...new Map(incidents.map((one) => [`${one.cause} ${one.subject}`, one])).values()];
      const column = (of: (one: Incident) => string) => textArray(unique, of);
      await pool.query(REPORT, [
        column(({ cause }) => cause),
        column(({ subject }) => subject),
        column(({ details }) => details),
        timing.currentMs,
      ]);
    },

    decide: (recipients, receivingSince) =>
      inTransaction(pool, async (client) => {
        const { rowCount } = await client.query(LOCK);
        if (rowCount === 0) return [];
        const { rows } = await client.query<IncidentRow & { readonly now: Date }>(LIST);
        const [first] = rows;
        if (!first) return [];
        const { rows: sent } = await client.query<{ cause: string; sent: number }>(SENT_WITHIN_HOUR);
        const sentByCause = new Map(sent.map((row) => [row.cause, row.sent]));
        const { notifications, changed, forgotten } = decideNotifications({
          incidents: rows.map(incidentOf),
          now: first.now.getTime() as UnixMs,
          receivingSince,
          timing,
          sentWithinHour: (cause) => sentByCause.get(cause) ?? 0,
          newId,
        });
        for (const { cause, subject } of forgotten) await client.query(FORGET, [cause, subject]);
        for (const incident of changed) await storeChange(client, incident);
        for (const notification of notifications) await insertNotification(client, notification, recipients);
        if (notifications.length > 0) await client.query(DELETE_OLD);
        return notifications;
      }),

    async claimDue(limit) {
      const { rows } = await pool.query<NotificationRow & { recipient: string; attempts: number }>(
        CLAIM_DUE,
        [limit],
      );
      return rows.map((row): DueDelivery => {
        return { notification: notificationOf(row), recipient: row.recipient, attempt: row.attempts };
      });
    },

    async recordDelivery({ notification: { id }, recipient, attempt }, failure) {
      if (failure === undefined) await pool.query(DELIVERED, [id, recipient]);
      else await pool.query(FAILED, [id, recipient, failure, retryAfterMs(attempt)]);
    },
  };
}

async function storeChange(client: ClientBase, incident: TrackedIncident): Promise<void> {
  const dateOf = (at: UnixMs | undefined) => (at === undefined ? null : new Date(at));
  const { cause, subject, opened, lastNotified } = incident;
  await client.query(CHANGE, [cause, subject, dateOf(opened), dateOf(lastNotified)]);
}

const INSERT = `
  insert into operator_notifications (id, created_at, kind, cause, subjects) values ($1, $2, $3, $4, $5)`;
const INSERT_DELIVERIES = `
  insert into notification_deliveries (notification_id, recipient, attempts, due_at)
  select $1, recipient, 0, clock_timestamp() from unnest($2::text[]) as one (recipient)`;

/** Stores the notification with a due delivery for each recipient. */
export async function insertNotification(
  client: ClientBase,
  { id, createdAt, kind, cause, subjects }: OperatorNotification,
  recipients: readonly string[],
): Promise<void> {
  const values = [id, new Date(createdAt), kind, cause ?? null, JSON.stringify(subjects)];
  await client.query(INSERT, values);
  await client.query(INSERT_DELIVERIES, [id, textArray([...new Set(recipients)], (one) => one)]);
}
