import { withRetries } from '@gateway/billing-ledger';
import { nanoUsd, type UnixMs } from '@gateway/base';
import { plainArray, textArray } from '@gateway/database';
import type { Pool } from 'pg';
import {
  BUDGET_ALERT_RETENTION_DAYS,
  DEFAULT_BUDGET_SHARES,
  WEBHOOK_RECIPIENT,
  type AlertPeriod,
  type DueBudgetAlert,
} from '../../core/budget-alert';
import { MAX_ALERT_ATTEMPTS } from '../../core/credit-alert';
import type { BudgetAlertStore } from '../../core/ports';
import type { WebhookSecrets } from './webhook-secrets';

const LIST_CHARGED = `
  select account.organization_id, account.charged_nano_usd
  from accounts account
  left join budget_alert_progress progress on progress.organization_id = account.organization_id
  where account.charged_nano_usd <> coalesce(progress.charged_nano_usd, 0)
  order by progress.checked_unix_ms nulls first, account.organization_id
  limit $1`;

/**
 * $1 organization, $2 owners, $3 their names, $4 periods, $5 budgets, $6 emails. For an hour, a day also counts after
 * its end: requests that it admitted are settled later. All days of an organization are in its account.
 */
const RECORD_REACHED = `
  with days as (
    select distinct (to_timestamp((now_ms - later_ms) / 1000.0) at time zone 'UTC')::date as day
    from (select now_unix_ms() as now_ms) clock, unnest(array[0, 3600000]) as later_ms
  ),
  budgets as materialized (
    select
      given.owner_id, given.owner_name, given.period, given.budget,
      case given.period
        when 'total' then ''
        when 'month' then to_char(first_day, 'YYYY-MM')
        else to_char(first_day, 'YYYY-MM-DD')
      end as period_start,
      periods.first_day, periods.last_day
    from unnest($2::text[], $3::text[], $4::text[], $5::bigint[]) as given (owner_id, owner_name, period, budget)
    cross join days
    join budget_periods(days.day) as periods on periods.period = given.period
  ),
  spending as materialized (
    select budgets.*, case
      when period = 'total' and owner_id = '' then
        (select charged_nano_usd::numeric from accounts where organization_id = $1 collate "C")
      else coalesce((
        select sum(total.spent_nano_usd) from budget_accounts total
        where total.organization_id = $1 collate "C" and total.owner_id = budgets.owner_id collate "C"
          and total.day between budgets.first_day and budgets.last_day
      ), 0)
    end as spent
    from budgets
  ),
  alerting as (
    select
      coalesce(
        (select budget_shares from credit_alerts where organization_id = $1 collate "C"),
        '{${DEFAULT_BUDGET_SHARES.join(',')}}'
      ) as shares,
      exists (
        select from credit_alerts where organization_id = $1 collate "C" and webhook_url is not null
      ) as has_webhook
  ),
  reached as (
    insert into budget_alerts
    select
      concat_ws('.', $1::text, nullif(owner_id, ''), period, nullif(period_start, ''), budget, share),
      $1, owner_id, period, period_start, budget, share, spent, owner_name, now_unix_ms()
    from spending cross join alerting cross join unnest(alerting.shares) as share
    where spent * 100 >= budget::numeric * share
    on conflict do nothing
    returning alert_id
  ),
  deliveries as (
    insert into budget_alert_deliveries (alert_id, recipient)
    select reached.alert_id, recipient
    from reached
    cross join (
      select unnest($6::text[]) as recipient
      union select '${WEBHOOK_RECIPIENT}' from alerting where has_webhook
    ) recipients
  )
  insert into budget_alert_progress (organization_id, charged_nano_usd, checked_unix_ms)
  values ($1, $7, now_unix_ms())
  on conflict (organization_id) do update set
    charged_nano_usd = excluded.charged_nano_usd, checked_unix_ms = excluded.checked_unix_ms`;

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
  returning alert.*, due.recipient, webhook.webhook_url, webhook.webhook_secret`;

const RECORD_DELIVERED = `
  update budget_alert_deliveries set delivered_unix_ms = now_unix_ms() where alert_id = $1 and recipient = $2`;

const DELETE_OLD = `
  delete from budget_alerts
  where period <> 'total' and reached_unix_ms < (select now_unix_ms()) - $1::bigint * 86400000`;

/** Longer than a delivery with all its timeouts. */
const FIRST_RETRY_MS = 120_000;
const MAX_RETRY_MS = 3_600_000;

interface DueRow {
  readonly alert_id: string;
  readonly organization_id: string;
  readonly owner_id: string;
  readonly owner_name: string;
  readonly period: AlertPeriod;
  readonly period_start: string;
  readonly share_percent: number;
  readonly budget_nano_usd: bigint;
  readonly spent_nano_usd: bigint;
  readonly reached_unix_ms: bigint;
  readonly recipient: string;
  readonly webhook_url: string | null;
  readonly webhook_secret: string | null;
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

    recordReached: ({ organizationId, chargedNanoUsd }, { budgets, emails }) =>
      withRetries(async () => {
        await pool.query(RECORD_REACHED, [
          organizationId,
          textArray(budgets, ({ ownerId }) => ownerId),
          textArray(budgets, ({ ownerName }) => ownerName),
          textArray(budgets, ({ period }) => period),
          plainArray(budgets, ({ amountNanoUsd }) => amountNanoUsd),
          textArray(emails, (email) => email),
          chargedNanoUsd,
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

    deleteOld: () =>
      withRetries(async () => void (await pool.query(DELETE_OLD, [BUDGET_ALERT_RETENTION_DAYS]))),
  };
}

function dueOf(row: DueRow, secret: string | undefined): DueBudgetAlert {
  const { webhook_url: url } = row;
  return {
    alertId: row.alert_id,
    organizationId: row.organization_id,
    ownerId: row.owner_id,
    ownerName: row.owner_name,
    period: row.period,
    periodStart: row.period_start,
    sharePercent: row.share_percent,
    budgetNanoUsd: nanoUsd(row.budget_nano_usd),
    spentNanoUsd: nanoUsd(row.spent_nano_usd),
    reachedAt: Number(row.reached_unix_ms) as UnixMs,
    recipient: row.recipient,
    webhook: url === null || secret === undefined ? undefined : { url, secret },
  };
}
