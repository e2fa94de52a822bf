-- Raises open holds to larger amounts. Decides each individually, in the given
-- order, by the rules of hold_credit: credit, the budget of the run, then the
-- budgets of key, project and organization for the month, in total and for the day. The day
-- is that of the hold's admission. A refusal takes nothing and returns the same
-- columns. A hold of this amount or more returns 'held' unchanged, so that a call
-- can be repeated; one that is not open returns 'closed'.
create or replace function extend_holds(
  p_hold_ids text[],
  p_organization_ids text[],
  p_amounts bigint[],
  p_organization_day_budgets bigint[],
  p_organization_month_budgets bigint[],
  p_organization_total_budgets bigint[],
  p_key_day_budgets bigint[],
  p_key_month_budgets bigint[],
  p_key_total_budgets bigint[],
  p_project_day_budgets bigint[],
  p_project_month_budgets bigint[],
  p_project_total_budgets bigint[]
) returns table (
  outcome text, available_nano_usd bigint, budget_scope text, budget_period text,
  budget_nano_usd bigint, used_nano_usd bigint, held_nano_usd bigint
)
language plpgsql
set plan_cache_mode = force_generic_plan set enable_seqscan = off set enable_hashjoin = off set enable_mergejoin = off
as $$
#variable_conflict use_column
declare
  wanted record;
  hold open_holds;
  account accounts;
  exceeded record;
  extra bigint;
  now_ms bigint;
begin
  perform lock_accounts(p_organization_ids);
  now_ms := now_unix_ms();

  -- Each item reads what the items before it wrote.
  for wanted in
    select *
    from unnest(
        p_hold_ids, p_organization_ids, p_amounts,
        p_organization_day_budgets, p_organization_month_budgets, p_organization_total_budgets,
        p_key_day_budgets, p_key_month_budgets, p_key_total_budgets,
        p_project_day_budgets, p_project_month_budgets, p_project_total_budgets
      ) with ordinality as wanted (
        hold_id, organization_id, amount,
        organization_day_budget, organization_month_budget, organization_total_budget,
        key_day_budget, key_month_budget, key_total_budget,
        project_day_budget, project_month_budget, project_total_budget, position
      )
    order by position
  loop
    outcome := 'held';
    available_nano_usd := null;
    budget_scope := null;
    budget_period := null;
    budget_nano_usd := null;
    used_nano_usd := null;
    held_nano_usd := null;

    select * into hold from open_holds where hold_id = wanted.hold_id collate "C";
    extra := wanted.amount - hold.amount_nano_usd;
    if hold.hold_id is null then
      outcome := 'closed';
    elsif hold.organization_id <> wanted.organization_id then
      outcome := 'foreign';
    end if;
    if outcome <> 'held' or extra <= 0 then
      return next;
      continue;
    end if;

    select * into account from accounts where organization_id = hold.organization_id;
    if account.available_nano_usd < extra then
      outcome := 'insufficient_credits';
      available_nano_usd := account.available_nano_usd;
      held_nano_usd := account.held_nano_usd;
      return next;
      continue;
    end if;

    select budget.* into exceeded
    from budget_use(hold.organization_id, '', hold.day) of_organization
    cross join budget_use(hold.organization_id, hold.key_id, hold.day) of_key
    cross join budget_use(hold.organization_id, hold.project_id, hold.day) of_project
    -- Days after that of the admission count as well.
    cross join budget_use(
      hold.organization_id, '', (date_trunc('month', hold.day) + interval '1 month - 1 day')::date
    ) of_month
    cross join budget_use(
      hold.organization_id, hold.key_id, (date_trunc('month', hold.day) + interval '1 month - 1 day')::date
    ) of_key_month
    cross join budget_use(
      hold.organization_id, hold.project_id, (date_trunc('month', hold.day) + interval '1 month - 1 day')::date
    ) of_project_month
    left join runs run on run.organization_id = hold.organization_id and run.run_id = hold.run_id
    cross join lateral (values
      (1, 'run', 'total', run.budget_nano_usd, run.spent_nano_usd + run.held_nano_usd, run.held_nano_usd),
      (2, 'key', 'month', wanted.key_month_budget, of_key_month.month_used, of_key_month.month_held),
      (3, 'key', 'total', wanted.key_total_budget, of_key.total_used, of_key.total_held),
      (4, 'project', 'month', wanted.project_month_budget, of_project_month.month_used, of_project_month.month_held),
      (5, 'project', 'total', wanted.project_total_budget, of_project.total_used, of_project.total_held),
      (6, 'organization', 'month', wanted.organization_month_budget, of_month.month_used, of_month.month_held),
      (7, 'organization', 'total', wanted.organization_total_budget,
        account.charged_nano_usd + account.held_nano_usd, account.held_nano_usd),
      (8, 'key', 'day', wanted.key_day_budget, of_key.day_used, of_key.day_held),
      (9, 'project', 'day', wanted.project_day_budget, of_project.day_used, of_project.day_held),
      (10, 'organization', 'day', wanted.organization_day_budget, of_organization.day_used, of_organization.day_held)
    ) as budget (rank, scope, period, amount, used, held)
    where budget.amount - budget.used < extra
    order by budget.rank
    limit 1;
    if found then
      outcome := 'budget_exceeded';
      budget_scope := exceeded.scope;
      budget_period := exceeded.period;
      budget_nano_usd := exceeded.amount;
      used_nano_usd := exceeded.used;
      held_nano_usd := exceeded.held;
      return next;
      continue;
    end if;

    update open_holds set amount_nano_usd = wanted.amount where hold_id = hold.hold_id;
    -- The amount in the reference keeps an extension from being posted twice.
    insert into postings (reference, kind, organization_id, posted_unix_ms, credit_nano_usd, held_nano_usd)
    values (hold.hold_id || '+' || wanted.amount, 'extension', hold.organization_id, now_ms, -extra, extra);
    update budget_accounts total
    set held_nano_usd = total.held_nano_usd + extra
    from budget_accounts_of(hold.key_id, hold.project_id, hold.day) as account_of
    where total.organization_id = hold.organization_id
      and total.owner_id = account_of.owner_id collate "C"
      and total.day = account_of.day;
    update runs run
    set held_nano_usd = run.held_nano_usd + extra
    where run.organization_id = hold.organization_id and run.run_id = hold.run_id;
    update accounts account_of
    set
      available_nano_usd = account_of.available_nano_usd - extra,
      held_nano_usd = account_of.held_nano_usd + extra
    where account_of.organization_id = hold.organization_id;
    return next;
  end loop;
end
$$;
