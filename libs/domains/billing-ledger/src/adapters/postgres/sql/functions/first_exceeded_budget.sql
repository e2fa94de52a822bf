-- The first budget of a hold that does not cover an amount in addition to what its owner has spent and holds in the
-- period of the day, or in the window up to the hour; no row if all do. The budgets of a batch apply to all its holds,
-- but a run has only the budget that its first hold names. A plain query, which is planned as a part of its caller.
create or replace function first_exceeded_budget(
  p_organization_id text,
  p_key_id text,
  p_project_id text,
  p_run_id text,
  p_run_budget bigint,
  p_budgets budget[],
  p_amount bigint,
  p_day date,
  p_hour timestamp
) returns table (
  scope text, period text, budget_nano_usd bigint, used_nano_usd bigint, held_nano_usd bigint, hours integer,
  frees_unix_ms bigint
)
language sql stable
as $$
  select exceeded.scope, exceeded.period, exceeded.amount, exceeded.used, exceeded.held, exceeded.hours, (
    -- The first hour after which the window has lost enough.
    select extract(epoch from min(leaving.hour) + make_interval(hours => exceeded.hours))::bigint * 1000
    from (
      select hour, sum(spent_nano_usd) over (order by hour) as freed
      from budget_hours
      where exceeded.period = 'window'
        and organization_id = p_organization_id collate "C" and owner_id = exceeded.owner_id collate "C"
        and hour >= p_hour - make_interval(hours => exceeded.hours - 1) and hour < 'infinity'
    ) as leaving
    where exceeded.amount - exceeded.used + leaving.freed >= p_amount
  )
  from (
    select
      budget.scope, budget.owner_id, budget.period, budget.hours, coalesce(use.fixed, budget.amount) as amount,
      use.used, use.held
    from (
      select scope, owner_id, period, hours, amount_nano_usd
      from unnest(p_budgets)
      where organization_id = p_organization_id and scope <> 'run' and owner_id in ('', p_key_id, p_project_id)
      union all
      select 'run', p_run_id, 'total', null, p_run_budget
      where p_run_id is not null
    ) as budget (scope, owner_id, period, hours, amount)
    cross join lateral budget_use(
      p_organization_id, budget.scope, budget.owner_id, budget.period, budget.hours, p_day, p_hour
    ) as use
    where coalesce(use.fixed, budget.amount) - use.used < p_amount
    order by
      use.rank, array_position(array['run', 'key', 'project', 'organization'], budget.scope), use.last_day,
      budget.hours desc
    limit 1
  ) as exceeded
$$;
