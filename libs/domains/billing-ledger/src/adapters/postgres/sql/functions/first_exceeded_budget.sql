-- The first budget of a list that does not cover an amount in addition to what its owner has spent and holds in the
-- period of the day; no row if all do. A plain query, which is planned as a part of its caller.
create or replace function first_exceeded_budget(
  p_organization_id text, p_budgets budget[], p_amount bigint, p_day date
) returns table (scope text, period text, budget_nano_usd bigint, used_nano_usd bigint, held_nano_usd bigint)
language sql stable
as $$
  select budget.scope, budget.period, coalesce(use.fixed, budget.amount_nano_usd), use.used, use.held
  from unnest(p_budgets) as budget
  join budget_periods(p_day) as days on days.period = budget.period
  cross join lateral budget_use(
    p_organization_id, budget.scope, budget.owner_id, days.first_day, days.last_day
  ) as use
  where coalesce(coalesce(use.fixed, budget.amount_nano_usd) - use.used < p_amount, true)
  order by
    days.rank, array_position(array['run', 'key', 'project', 'organization'], budget.scope), days.last_day
  limit 1
$$;
