-- Why an organization cannot hold an amount in addition: its balance, or the first exceeded budget. No row if it can.
-- A plain query, which is planned as a part of its caller.
create or replace function hold_refusal(p_organization_id text, p_budgets budget[], p_amount bigint, p_day date)
returns setof hold_decision
language sql stable
as $$
  select 'insufficient_credits', available_nano_usd, null, null, null::bigint, null::bigint, held_nano_usd
  from accounts
  where organization_id = p_organization_id collate "C" and available_nano_usd < p_amount
  union all
  select 'budget_exceeded', null, scope, period, budget_nano_usd, used_nano_usd, held_nano_usd
  from first_exceeded_budget(p_organization_id, p_budgets, p_amount, p_day)
  limit 1
$$;
