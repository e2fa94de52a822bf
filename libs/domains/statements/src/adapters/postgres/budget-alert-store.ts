import { counterOf, withRetries } from '@gateway/billing-ledger';
import { nanoUsd, type BudgetPeriod, type UnixMs } from '@gateway/base';
import { plainArray, textArray } from '@gateway/database';
import type { Pool } from 'pg';
import {
  BUDGET_ALERT_RETENTION_DAYS,
  MAX_LISTED_END_USERS,
  WEBHOOK_RECIPIENT,
  type BudgetAlert,
  type DueBudgetAlert,
} from '../../core/budget-alert';
import { MAX_ALERT_ATTEMPTS } from '../../core/credit-alert';
import type { BudgetAlertStore } from '../../core/ports';
import { ALERTING, CLOCK_AND_DAYS, PERIOD_START, RECIPIENTS } from './alert-sql';
import { alertEndUsers, WAITING } from './end-user-alerts';
import type { WebhookSecrets } from './webhook-secrets';

/** Also those with end users who wait for an alert that may be sent now. */
const LIST_CHARGED = `
  select account.organization_id, account.charged_nano_usd
  from accounts account
  left join budget_alert_progress progress on progress.organization_id = account.organization_id
  where account.charged_nano_usd <> coalesce(progress.charged_nano_usd, 0)
    or account.organization_id in (select organization_id from (${WAITING}) waiting)
  order by progress.checked_unix_ms nulls first, account.organization_id
  limit $1`;

/**
 * $1 organization, $2 owners, $3 their names, $4 periods, $5 budgets, $6 emails, $7 the charge, null if the organization is
 * to be compared again, $8 hours of windows, $9 models, $10 counters. For an hour, a day also counts after its end: requests that it admitted are settled later. A window is
 * reported once in as many hours as it has.
 */
const RECORD_REACHED = `
  with ${CLOCK_AND_DAYS},
  spending as materialized (
    select
      given.*, use.used - use.held as spent,
      ${PERIOD_START} as period_start
    from unnest($2::text[], $3::text[], $4::text[], $5::bigint[], $8::integer[], $9::text[], $10::text[])
      as given (owner_id, owner_name, period, budget, hours, model, counter)
    cross join clock
    cross join days
    cross join lateral budget_use(
      $1, case when given.owner_id = '' then 'organization' else 'key' end, given.owner_id, given.period, given.hours,
      given.counter, days.day, clock.hour
    ) as use
  ),
  ${ALERTING},
  reached as (
    insert into budget_alerts (
      alert_id, organization_id, owner_id, period, hours, model, period_start, budget_nano_usd, share_percent,
      spent_nano_usd, owner_name, reached_unix_ms
    )
    select
      concat_ws('.', $1::text, nullif(owner_id, ''), period, hours, model, nullif(period_start, ''), budget, share),
      $1, owner_id, period, hours, model, period_start, budget, share, spent, owner_name, now_unix_ms()
    from spending cross join alerting cross join unnest(alerting.shares) as share
    where spent * 100 >= budget::numeric * share
    on conflict do nothing
    returning alert_id
  ),
  deliveries as (
    insert into budget_alert_deliveries (alert_id, recipient)
    select reached.alert_id, recipient from reached cross join (${RECIPIENTS('$6')}) recipients
  )
  insert into budget_alert_progress as progress (organization_id, charged_nano_usd, checked_unix_ms)
  values ($1, coalesce($7::bigint, 0), now_unix_ms())
  on conflict (organization_id) do update set
    charged_nano_usd = coalesce($7, progress.charged_nano_usd), checked_unix_ms = excluded.checked_unix_ms`;

const END_USER_COUNT = `
  (select count(*) from budget_alert_end_users one where one.alert_id = alert.alert_id) as end_users`;
/** The end users of an alert that it names. */
const LISTED = `
  select end_user, spent_nano_usd from budget_alert_end_users one
  where one.alert_id = alert.alert_id
  order by spent_nano_usd desc, end_user
  limit ${MAX_LISTED_END_USERS}`;

/** $1 max attempts, $2 max rows, $3 milliseconds until the first retry, which double, $4 at most these. */
const CLAIM_DUE = `
  update budget_alert_deliveries delivery
  set attempts = delivery.attempts + 1,
    next_attempt_unix_ms = now_unix_ms() + least($3 * 2 ^ delivery.attempts, $4)
  from (
    select alert_id, recipient from budget_alert_deliveries
    where delivered_unix_ms is null and attempts < $1 and next_attempt_unix_ms <= (select now_unix_ms())
    order by next_attempt_unix_ms
    limit $2
    for update skip locked
  ) due
  join budget_alerts alert on alert.alert_id = due.alert_id
  left join credit_alerts webhook
    on webhook.organization_id = alert.organization_id and due.recipient = '${WEBHOOK_RECIPIENT}'
  where delivery.alert_id = due.alert_id and delivery.recipient = due.recipient
  returning alert.*, due.recipient, webhook.webhook_url, webhook.webhook_secret, ${END_USER_COUNT},
    (
      select array_agg(listed.end_user) from (${LISTED}) listed
    ) as listed_end_users,
    (
      select array_agg(listed.spent_nano_usd) from (${LISTED}) listed
    ) as listed_spent_nano_usd`;

const RECORD_DELIVERED = `
  update budget_alert_deliveries set delivered_unix_ms = now_unix_ms() where alert_id = $1 and recipient = $2`;

/** $1 organization, $2 limit. */
const LIST = `
  select alert.*, ${END_USER_COUNT}, count(delivery.delivered_unix_ms) as delivered,
    count(delivery.recipient) - count(delivery.delivered_unix_ms) as undelivered
  from (
    select * from budget_alerts where organization_id = $1
    order by reached_unix_ms desc, alert_id
    limit $2
  ) alert
  left join budget_alert_deliveries delivery on delivery.alert_id = alert.alert_id
  group by alert.alert_id, alert.organization_id, alert.owner_id, alert.period, alert.hours, alert.model, alert.period_start,
    alert.budget_nano_usd, alert.share_percent, alert.spent_nano_usd, alert.owner_name, alert.reached_unix_ms,
    alert.per_end_user
  order by alert.reached_unix_ms desc, alert.alert_id`;

const DELETE_OLD = `
  delete from budget_alerts
  where period <> 'total' and reached_unix_ms < (select now_unix_ms()) - $1::bigint * 86400000`;

/** Longer than a delivery with all its timeouts. */
const FIRST_RETRY_MS = 120_000;
const MAX_RETRY_MS = 3_600_000;

interface AlertRow {
  readonly alert_id: string;
  readonly organization_id: string;
  readonly owner_id: string;
  readonly owner_name: string;
  readonly period: BudgetPeriod;
  readonly hours: number | null;
  readonly model: string | null;
  readonly period_start: string;
  readonly share_percent: number;
  readonly budget_nano_usd: bigint;
  readonly spent_nano_usd: bigint;
  readonly reached_unix_ms: bigint;
  readonly per_end_user: boolean;
  /** The number of end users that it is about. */
  readonly end_users: bigint;
}

interface DueRow extends AlertRow {
  readonly recipient: string;
  readonly webhook_url: string | null;
  readonly webhook_secret: string | null;
  readonly listed_end_users: string[] | null;
  readonly listed_spent_nano_usd: bigint[] | null;
}

/** Alerts about budgets in the ledger's database. The primary keys make each alert and each delivery unique. */
export function createPostgresBudgetAlertStore({
  pool,
  secrets,
}: {
  readonly pool: Pool;
  readonly secrets: Pick<WebhookSecrets, 'decrypt'>;
}): BudgetAlertStore {
  return {
    listCharged: (limit) =>
      withRetries(async () => {
        const { rows } = await pool.query<{ organization_id: string; charged_nano_usd: bigint }>(
          LIST_CHARGED,
          [limit],
        );
        return rows.map((row) => ({
          organizationId: row.organization_id,
          chargedNanoUsd: row.charged_nano_usd,
        }));
      }),

    recordReached: ({ organizationId, chargedNanoUsd }, { budgets: all, emails }) =>
      withRetries(async () => {
        const budgets = all.filter(({ perEndUser }) => !perEndUser);
        const ofEndUsers = all.filter(({ perEndUser }) => perEndUser);
        const isDone = await alertEndUsers(pool, organizationId, { budgets: ofEndUsers, emails });
        await pool.query(RECORD_REACHED, [
          organizationId,
          textArray(budgets, ({ ownerId }) => ownerId),
          textArray(budgets, ({ ownerName }) => ownerName),
          textArray(budgets, ({ period }) => period),
          plainArray(budgets, ({ amountNanoUsd }) => amountNanoUsd),
          textArray(emails, (email) => email),
          isDone ? chargedNanoUsd : null,
          plainArray(budgets, ({ hours }) => hours),
          textArray(budgets, ({ model }) => model),
          textArray(budgets, counterOf),
        ]);
      }),

    claimDue: (limit) =>
      withRetries(async () => {
        const { rows } = await pool.query<DueRow>(CLAIM_DUE, [
          MAX_ALERT_ATTEMPTS,
          limit,
          FIRST_RETRY_MS,
          MAX_RETRY_MS,
        ]);
        return rows.map((row) => dueOf(row, secrets.decrypt(row.organization_id, row.webhook_secret)));
      }),

    recordDelivered: ({ alertId, recipient }) =>
      withRetries(async () => void (await pool.query(RECORD_DELIVERED, [alertId, recipient]))),

    listAlerts: (organizationId, limit) =>
      withRetries(async () => {
        const { rows } = await pool.query<AlertRow & { delivered: bigint; undelivered: bigint }>(LIST, [
          organizationId,
          limit,
        ]);
        return rows.map((row) => ({
          ...alertOf(row),
          delivered: Number(row.delivered),
          undelivered: Number(row.undelivered),
        }));
      }),

    deleteOld: () =>
      withRetries(async () => void (await pool.query(DELETE_OLD, [BUDGET_ALERT_RETENTION_DAYS]))),
  };
}

function alertOf(row: AlertRow): BudgetAlert {
  return {
    alertId: row.alert_id,
    organizationId: row.organization_id,
    ownerId: row.owner_id,
    ownerName: row.owner_name,
    period: row.period,
    hours: row.hours ?? undefined,
    model: row.model ?? undefined,
    periodStart: row.period_start,
    sharePercent: row.share_percent,
    budgetNanoUsd: nanoUsd(row.budget_nano_usd),
    spentNanoUsd: nanoUsd(row.spent_nano_usd),
    reachedAt: Number(row.reached_unix_ms) as UnixMs,
    endUserCount: row.per_end_user ? Number(row.end_users) : undefined,
  };
}

function dueOf(row: DueRow, secret: string | undefined): DueBudgetAlert {
  const { recipient, webhook_url: url, listed_end_users: names, listed_spent_nano_usd: spent } = row;
  const endUsers = names?.map((endUser, at) => ({ endUser, spentNanoUsd: nanoUsd(spent?.[at] ?? 0n) })) ?? [];
  const webhook = url === null || secret === undefined ? undefined : { url, secret };
  return { ...alertOf(row), recipient, webhook, endUsers };
}
