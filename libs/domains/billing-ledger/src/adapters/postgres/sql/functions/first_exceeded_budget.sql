-- The first budget of a hold that does not cover an amount in addition to what its owner has spent and holds in the
-- period of the day; no row if all do. The budgets of a batch apply to all its holds, but a run has only the budget that
-- its first hold names. A plain query, which is planned as a part of its caller.
create or replace function first_exceeded_budget(
  p_organization_id text,
  p_key_id text,
  p_project_id text,
  p_run_id text,
  p_run_budget bigint,
  p_budgets budget[],
  p_amount bigint,
  p_day date
) returns table (scope text, period text, budget_nano_usd bigint, used_nano_usd bigint, held_nano_usd bigint)
language sql stable
as $$
  select budget.scope, budget.period, coalesce(use.fixed, budget.amount), use.used, use.held
  from (
    select scope, owner_id, period, amount_nano_usd
    from unnest(p_budgets)
    where organization_id = p_organization_id and scope <> 'run' and owner_id in ('', p_key_id, p_project_id)
    union all
    select 'run', p_run_id, 'total', p_run_budget
    where p_run_id is not null
  ) as budget (scope, owner_id, period, amount)
  cross join lateral budget_use(p_organization_id, budget.scope, budget.owner_id, budget.period, p_day) as use
  where coalesce(use.fixed, budget.amount) - use.used < p_amount
  order by
    use.rank, array_position(array['run', 'key', 'project', 'organization'], budget.scope), use.last_day
  limit 1
$$;
