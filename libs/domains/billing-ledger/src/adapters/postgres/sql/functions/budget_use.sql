-- What an owner has spent and holds from one day to another, the part that it holds, and the budget that it has fixed.
-- The account of an organization has all its days, which have the day 'infinity'. A run has no days, and its first hold
-- fixes its budget. A plain query, which is planned as a part of its caller.
create or replace function budget_use(
  p_organization_id text, p_scope text, p_owner_id text, p_first_day date, p_last_day date
) returns table (used bigint, held bigint, fixed bigint)
language sql stable
as $$
  select coalesce(sum(spent + held), 0)::bigint, coalesce(sum(held), 0)::bigint, max(fixed)
  from (
    select spent_nano_usd, held_nano_usd, null::bigint
    from budget_accounts
    where p_scope <> 'run'
      and organization_id = p_organization_id collate "C"
      and owner_id = p_owner_id collate "C"
      and day between p_first_day and p_last_day
    union all
    select charged_nano_usd, held_nano_usd, null
    from accounts
    where p_scope = 'organization' and p_last_day = 'infinity' and organization_id = p_organization_id collate "C"
    union all
    select spent_nano_usd, held_nano_usd, budget_nano_usd
    from runs
    where p_scope = 'run' and organization_id = p_organization_id collate "C" and run_id = p_owner_id collate "C"
  ) as account (spent, held, fixed)
$$;
