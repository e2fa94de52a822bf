-- The first budget of a hold that does not cover an amount in addition to what its owner has spent and holds in the
-- period of the day, or in the window up to the hour; no row if all do. The budgets of a batch apply to all its holds,
-- those with a counter to the holds that count in it. A run has only the budget that its first hold names. A plain
-- query, which is planned as a part of its caller.
create or replace function first_exceeded_budget(
  p_organization_id text,
  p_key_id text,
  p_project_id text,
  p_run_id text,
  p_run_budget bigint,
  p_budgets budget[],
  p_counters text[],
  p_amount bigint,
  p_day date,
  p_hour timestamp
) returns table (
  scope text, period text, budget_nano_usd bigint, used_nano_usd bigint, held_nano_usd bigint, hours integer,
  frees_unix_ms bigint, model text
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
        and organization_id = p_organization_id collate "C" and counter = exceeded.counter collate "C"
        and hour >= p_hour - make_interval(hours => exceeded.hours - 1) and hour < 'infinity'
    ) as leaving
    where exceeded.amount - exceeded.used + leaving.freed >= p_amount
  ), exceeded.model
  from (
    select
      budget.scope, budget.period, budget.hours, budget.model, budget.counter,
      coalesce(use.fixed, budget.amount) as amount, use.used, use.held
    from (
      select scope, owner_id, period, hours, amount_nano_usd, model, counter
      from unnest(p_budgets)
      where organization_id = p_organization_id and scope <> 'run' and owner_id in ('', p_key_id, p_project_id)
        and (counter is null or counter = any (p_counters))
      union all
      select 'run', p_run_id, 'total', null, p_run_budget, null, null
      where p_run_id is not null
    ) as budget (scope, owner_id, period, hours, amount, model, counter)
    cross join lateral budget_use(
      p_organization_id, budget.scope, budget.owner_id, budget.period, budget.hours, budget.counter, p_day, p_hour
    ) as use
    where coalesce(use.fixed, budget.amount) - use.used < p_amount
    order by
      use.rank, array_position(array['run', 'end_user', 'key', 'project', 'organization'], budget.scope),
      budget.model is null, use.last_day, budget.hours desc
    limit 1
  ) as exceeded
$$;
