-- Raises open holds to larger amounts. Decides each individually, in the given
-- order, like hold_credit: by the balance, the budget of the hold's run, and the given
-- budgets in the periods of the day of its admission and in windows up to the current
-- hour. Returns a row for each that is refused, which takes nothing. A hold of this amount
-- or more stays as it is, so that a call can be repeated; one that is not open is 'closed'.
create or replace function extend_holds(
  p_hold_ids text[],
  p_organization_ids text[],
  p_amounts bigint[],
  p_budgets budget[]
) returns setof hold_decision
language plpgsql
set plan_cache_mode = force_generic_plan set enable_seqscan = off set enable_hashjoin = off set enable_mergejoin = off
as $$
declare
  wanted record;
  hold open_holds;
  extra bigint;
  now_ms bigint;
  this_hour timestamp;
  decision hold_decision;
begin
  perform lock_accounts(p_organization_ids);
  now_ms := now_unix_ms();
  this_hour := date_trunc('hour', to_timestamp(now_ms / 1000.0) at time zone 'UTC');

  -- Each item reads what the items before it wrote.
  for wanted in
    select *
    from unnest(p_hold_ids, p_organization_ids, p_amounts) with ordinality
      as wanted (hold_id, organization_id, amount, position)
    order by position
  loop
    decision := null;
    select * into hold from open_holds where hold_id = wanted.hold_id collate "C";
    extra := wanted.amount - hold.amount_nano_usd;
    if hold.hold_id is null then
      decision.outcome := 'closed';
    elsif hold.organization_id <> wanted.organization_id then
      decision.outcome := 'foreign';
    elsif extra > 0 then
      select * into decision
      from hold_refusal(
        hold.organization_id, hold.key_id, hold.project_id, hold.run_id, null, p_budgets, hold.counters, extra,
        hold.day, this_hour
      );
    end if;
    if decision.outcome is not null then
      decision.position := wanted.position;
      return next decision;
    end if;
    continue when extra <= 0 or decision.outcome is not null;

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
    update budget_hours total
    set held_nano_usd = total.held_nano_usd + extra
    where total.organization_id = hold.organization_id and total.counter = any (hold.counters)
      and total.hour = 'infinity';
    update runs run
    set held_nano_usd = run.held_nano_usd + extra
    where run.organization_id = hold.organization_id and run.run_id = hold.run_id;
    update accounts account_of
    set
      available_nano_usd = account_of.available_nano_usd - extra,
      held_nano_usd = account_of.held_nano_usd + extra
    where account_of.organization_id = hold.organization_id;
  end loop;
end
$$;
