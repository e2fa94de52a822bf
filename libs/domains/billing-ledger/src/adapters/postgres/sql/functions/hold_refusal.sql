-- Why a hold cannot take an amount in addition: the balance, or the first exceeded budget. No row if it can. A plain
-- query, which is planned as a part of its caller.
create or replace function hold_refusal(
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
) returns setof hold_decision
language sql stable
as $$
  select null::integer, 'insufficient_credits', available_nano_usd, null, null, null::bigint, null::bigint, held_nano_usd,
    null::integer, null::bigint, null
  from accounts
  where organization_id = p_organization_id collate "C" and available_nano_usd < p_amount
  union all
  select null, 'budget_exceeded', null, scope, period, budget_nano_usd, used_nano_usd, held_nano_usd, hours,
    frees_unix_ms, model
  from first_exceeded_budget(
    p_organization_id, p_key_id, p_project_id, p_run_id, p_run_budget, p_budgets, p_counters, p_amount, p_day,
    p_hour
  )
  limit 1
$$;
