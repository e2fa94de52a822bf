import { counterOf } from '@gateway/billing-ledger';
import { HOUR_MS, MINUTE_MS } from '@gateway/base';
import { inTransaction, plainArray, textArray } from '@gateway/database';
import type { Pool } from 'pg';
import type { BudgetsOfOrganization } from '../../core/budget-alert';
import { ALERTING, CLOCK_AND_DAYS, PERIOD_START, RECIPIENTS } from './alert-sql';

/** How often the budgets of the end users of an organization are compared: their hours are many. */
const COMPARE_EVERY_MS = MINUTE_MS;
/** The time between two alerts about the same share, so that many end users are few emails. */
const ALERT_EVERY_MS = HOUR_MS;

/** Held until the end of the transaction, so that no two processes send an alert about one share. */
const LOCK = `select pg_advisory_xact_lock(hashtextextended(current_schema || '.end_user_alerts.' || $1, 0))`;

const IS_DUE = `
  select coalesce(
    (select end_users_checked_unix_ms from budget_alert_progress where organization_id = $1 collate "C"), 0
  ) + ${COMPARE_EVERY_MS} <= now_unix_ms() as is_due`;

const RECORD_CHECK = `
  insert into budget_alert_progress (organization_id, charged_nano_usd, checked_unix_ms, end_users_checked_unix_ms)
  values ($1, 0, 0, now_unix_ms())
  on conflict (organization_id) do update set end_users_checked_unix_ms = excluded.end_users_checked_unix_ms`;

/**
 * $1 organization, $2 keys, $3 their names, $4 periods, $5 budgets, $6 hours of windows, $7 the starts of the counters of
 * their end users. They end with a slash, whose successor is a zero.
 */
const RECORD_REACHED = `
  with ${CLOCK_AND_DAYS},
  spending as materialized (
    select given.*, ${PERIOD_START} as period_start, use.end_user, use.spent
    from unnest($2::text[], $3::text[], $4::text[], $5::bigint[], $6::integer[], $7::text[])
      as given (owner_id, owner_name, period, budget, hours, start)
    cross join clock
    cross join days
    join lateral budget_periods(days.day) as dates on dates.period = given.period
    cross join lateral (
      select substr(counter, length(given.start) + 1) as end_user,
        coalesce(
          sum(spent_nano_usd) filter (
            where hour >= case given.period
              when 'window' then clock.hour - make_interval(hours => given.hours - 1)
              when 'total' then '-infinity'
              else dates.first_day
            end
            and (given.period in ('window', 'total') or hour < dates.last_day + interval '1 day')
          ),
          0
        ) as spent
      from budget_hours
      where organization_id = $1 and counter >= given.start collate "C"
        and counter < left(given.start, -1) || '0' collate "C"
      group by counter
    ) as use
  ),
  ${ALERTING}
  insert into budget_alert_end_users (
    organization_id, owner_id, period, hours, period_start, budget_nano_usd, share_percent, end_user, spent_nano_usd,
    owner_name, reached_unix_ms
  )
  select $1, owner_id, period, coalesce(hours, 0), period_start, budget, share, end_user, max(spent), max(owner_name),
    now_unix_ms()
  from spending cross join alerting cross join unnest(alerting.shares) as share
  where spent * 100 >= budget::numeric * share
  group by owner_id, period, hours, period_start, budget, share, end_user
  on conflict do nothing`;

/**
 * The shares with end users that no alert lists yet, without those of an alert within the last hour.
 *
 * @param condition restricts the end users
 */
const waitingShares = (condition: string): string => `
  select * from (
    select distinct organization_id, owner_id, period, hours, period_start, budget_nano_usd, share_percent
    from budget_alert_end_users
    where alert_id is null and ${condition}
  ) reached
  where not exists (
    select from budget_alerts recent
    where recent.organization_id = reached.organization_id
      and recent.reached_unix_ms > (select now_unix_ms()) - ${ALERT_EVERY_MS}
      and recent.per_end_user and recent.owner_id = reached.owner_id and recent.period = reached.period
      and coalesce(recent.hours, 0) = reached.hours and recent.period_start = reached.period_start
      and recent.budget_nano_usd = reached.budget_nano_usd and recent.share_percent = reached.share_percent
  )`;

/** The waiting shares of all organizations. */
export const WAITING = waitingShares('true');

const ANY_WAITS = `
  select exists (
    select from budget_alert_end_users where organization_id = $1 collate "C" and alert_id is null
  ) as waits`;

/** $1 organization, $2 emails. One alert lists all end users that wait at a share. */
const ALERT = `
  with ${ALERTING},
  now as materialized (select now_unix_ms() as now_ms),
  waiting as materialized (${waitingShares(`organization_id = $1 collate "C"`)}),
  listed as (
    update budget_alert_end_users reached
    set alert_id = concat_ws(
      '.', $1::text, reached.owner_id, 'end_user', reached.period, nullif(reached.hours, 0),
      nullif(reached.period_start, ''), reached.budget_nano_usd, reached.share_percent, now_ms
    )
    from waiting cross join now
    where reached.organization_id = $1 and reached.alert_id is null
      and (
        reached.owner_id, reached.period, reached.hours, reached.period_start, reached.budget_nano_usd,
        reached.share_percent
      ) = (
        waiting.owner_id, waiting.period, waiting.hours, waiting.period_start, waiting.budget_nano_usd,
        waiting.share_percent
      )
    returning reached.*
  ),
  alerts as (
    insert into budget_alerts (
      alert_id, organization_id, owner_id, period, hours, period_start, budget_nano_usd, share_percent, spent_nano_usd,
      owner_name, reached_unix_ms, per_end_user
    )
    select alert_id, $1, owner_id, period, nullif(hours, 0), period_start, budget_nano_usd, share_percent,
      max(spent_nano_usd), max(owner_name), now_ms, true
    from listed cross join now
    group by alert_id, owner_id, period, hours, period_start, budget_nano_usd, share_percent, now_ms
    returning alert_id
  )
  insert into budget_alert_deliveries (alert_id, recipient)
  select alerts.alert_id, recipient from alerts cross join (${RECIPIENTS('$2')}) recipients`;

/**
 * Records which end users have reached a share of their budget, and alerts about those that wait. Returns whether they
 * were compared; otherwise that was less than a minute ago.
 */
export async function alertEndUsers(
  pool: Pool,
  organizationId: string,
  { budgets, emails }: BudgetsOfOrganization,
): Promise<boolean> {
  if (budgets.length === 0) {
    const { rows } = await pool.query<{ waits: boolean }>(ANY_WAITS, [organizationId]);
    if (!rows[0]?.waits) return true;
  }
  return inTransaction(pool, async (client) => {
    await client.query(LOCK, [organizationId]);
    let isDue = true;
    if (budgets.length > 0) {
      const { rows } = await client.query<{ is_due: boolean }>(IS_DUE, [organizationId]);
      isDue = rows[0]?.is_due ?? true;
      if (isDue) {
        await client.query(RECORD_REACHED, [
          organizationId,
          textArray(budgets, ({ ownerId }) => ownerId),
          textArray(budgets, ({ ownerName }) => ownerName),
          textArray(budgets, ({ period }) => period),
          plainArray(budgets, ({ amountNanoUsd }) => amountNanoUsd),
          plainArray(budgets, ({ hours }) => hours),
          textArray(budgets, ({ ownerId, period }) => counterOf({ ownerId, period, endUser: '' })),
        ]);
        await client.query(RECORD_CHECK, [organizationId]);
      }
    }
    await client.query(ALERT, [organizationId, textArray(emails, (email) => email)]);
    return isDue;
  });
}
