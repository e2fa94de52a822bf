import { DEFAULT_BUDGET_SHARES, WEBHOOK_RECIPIENT } from '../../core/budget-alert';

/** The parts of the statements that find which shares of budgets were reached. */

/** Common table expressions. For an hour, a day also counts after its end: requests that it admitted are settled later. */
export const CLOCK_AND_DAYS = `
  clock as (
    select now_unix_ms() as now_ms, date_trunc('hour', to_timestamp(now_unix_ms() / 1000.0) at time zone 'UTC') as hour
  ),
  days as (
    select distinct (to_timestamp((now_ms - later_ms) / 1000.0) at time zone 'UTC')::date as day
    from clock, unnest(array[0, 3600000]) as later_ms
  )`;

/** The name of the period of the budget `given`. A window is reported once in as many hours as it has. */
export const PERIOD_START = `
  case given.period
    when 'total' then ''
    when 'month' then to_char(days.day, 'YYYY-MM')
    when 'week' then to_char(date_trunc('week', days.day), 'YYYY-MM-DD')
    when 'day' then to_char(days.day, 'YYYY-MM-DD')
    else to_char(
      date_bin(make_interval(hours => given.hours), clock.hour, timestamp '2000-01-01'), 'YYYY-MM-DD"T"HH24'
    )
  end`;

/** A common table expression: what the organization $1 has chosen. */
export const ALERTING = `
  alerting as (
    select
      coalesce(
        (select budget_shares from credit_alerts where organization_id = $1 collate "C"),
        '{${DEFAULT_BUDGET_SHARES.join(',')}}'
      ) as shares,
      exists (
        select from credit_alerts where organization_id = $1 collate "C" and webhook_url is not null
      ) as has_webhook
  )`;

/** @param emails the parameter of the email addresses */
export const RECIPIENTS = (emails: string): string => `
  select unnest(${emails}::text[]) as recipient
  union select '${WEBHOOK_RECIPIENT}' from alerting where has_webhook`;
