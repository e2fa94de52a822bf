-- Decides each hold individually in the given order: a refused hold reserves
-- nothing, so a smaller one after it may still be accepted. Hold ids within a call
-- are distinct. A hold that exists returns 'held' again while it is open, and
-- 'closed' once it was settled, voided, abandoned or deleted with its partition.
-- To another organization it returns 'foreign'. Its lifetime starts with this call,
-- and it counts against the budgets of the current UTC day and of its run. The first
-- hold of a run fixes the run's budget; before that, a hold without one returns
-- 'unknown_run'. A refusal returns the part of the balance, or of the exceeded
-- budget, that open holds reserve.
create or replace function hold_credit(
  p_hold_ids text[],
  p_organization_ids text[],
  p_key_ids text[],
  p_amounts bigint[],
  p_prices text[],
  p_organization_budgets bigint[],
  p_key_budgets bigint[],
  p_created_unix_ms bigint[],
  p_lifetimes_ms bigint[],
  p_idempotency_scopes text[],
  p_run_ids text[],
  p_run_budgets bigint[]
) returns table (
  outcome text, available_nano_usd bigint, limit_nano_usd bigint, used_nano_usd bigint, held_nano_usd bigint
)
language plpgsql
set plan_cache_mode = force_generic_plan set enable_seqscan = off set enable_hashjoin = off set enable_mergejoin = off
as $$
#variable_conflict use_column
declare
  item record;
  size integer := cardinality(p_hold_ids);
  accepted boolean[] := array_fill(false, array[size]);
  accepted_ids text[] := '{}';
  held_count integer;
  is_over_budget boolean;
  now_ms bigint := now_unix_ms();
  today date := (to_timestamp(now_ms / 1000.0) at time zone 'UTC')::date;
  -- Amounts held so far in this batch, indexed by the position of the first item
  -- with the same organization, or the same key.
  taken_by_organization bigint[] := array_fill(0::bigint, array[size]);
  taken_by_key bigint[] := taken_by_organization;
  taken_by_run bigint[] := taken_by_organization;
  -- Budgets that holds of this batch have fixed, by the position of the first item with the same run.
  fixed_run_budgets bigint[] := array_fill(null::bigint, array[size]);
  run_budget bigint;
  amount_left bigint;
  organization_used bigint;
  key_used bigint;
  run_used bigint;
begin
  -- Fast path: in nearly every batch all ids are new, and each account and budget covers the sum of its holds.
  -- So this block writes first and checks afterwards. If a check fails, the block is rolled back.
  begin
    with named as materialized (
      select
        hold_id,
        p_organization_ids[i] as organization_id,
        p_key_ids[i] as key_id,
        p_amounts[i] as amount,
        p_prices[i] as prices,
        p_organization_budgets[i] as organization_budget,
        p_key_budgets[i] as key_budget,
        p_created_unix_ms[i] as created_unix_ms,
        p_lifetimes_ms[i] as lifetime_ms,
        p_idempotency_scopes[i] as idempotency_scope,
        p_run_ids[i] as run_id,
        p_run_budgets[i] as run_budget,
        i as position
      from unnest(p_hold_ids) with ordinality as named (hold_id, i)
    ),
    batch as materialized (
      select organization_id collate "C" as organization_id, sum(amount)::bigint as amount
      from named
      group by 1
      order by 1
    ),
    moved_money as (
      update accounts account
      set
        available_nano_usd = account.available_nano_usd - batch.amount,
        held_nano_usd = account.held_nano_usd + batch.amount
      from batch
      where account.organization_id = batch.organization_id and account.available_nano_usd >= batch.amount
      returning account.organization_id
    ),
    -- Empty unless every account, locked in the common order, has enough.
    taken as materialized (
      select * from named
      where (select count(*) from moved_money) = (select count(*) from batch)
    ),
    new_holds as (
      insert into open_holds (
        hold_id, organization_id, key_id, amount_nano_usd, prices,
        day, created_unix_ms, deadline_unix_ms, idempotency_scope, run_id
      )
      select
        hold_id, organization_id, key_id, amount, prices,
        today, created_unix_ms, now_ms + lifetime_ms, idempotency_scope, run_id
      from taken
    ),
    new_postings as (
      insert into postings (reference, kind, organization_id, posted_unix_ms, credit_nano_usd, held_nano_usd)
      select hold_id, 'hold', organization_id, now_ms, -amount, amount
      from taken
    ),
    spend as materialized (
      select
        organization_id, coalesce(key_id, '') as key_id, sum(amount)::bigint as amount,
        case when grouping(key_id) = 1 then min(organization_budget) else min(key_budget) end as budget
      from taken
      group by grouping sets ((organization_id), (organization_id, key_id))
    ),
    new_spend as (
      insert into daily_spend as total (organization_id, day, key_id, held_nano_usd)
      select organization_id, today, key_id, amount from spend
      on conflict (organization_id, day, key_id)
        do update set held_nano_usd = total.held_nano_usd + excluded.held_nano_usd
      returning organization_id, key_id, spent_nano_usd + held_nano_usd as used
    ),
    new_runs as (
      insert into runs as run (
        organization_id, run_id, budget_nano_usd, held_nano_usd, created_unix_ms, last_held_unix_ms
      )
      select organization_id, run_id, (array_agg(run_budget order by position))[1], sum(amount)::bigint, now_ms, now_ms
      from taken
      where run_id is not null
      group by organization_id, run_id
      on conflict (organization_id, run_id) do update set
        held_nano_usd = run.held_nano_usd + excluded.held_nano_usd, last_held_unix_ms = excluded.last_held_unix_ms
      returning spent_nano_usd + held_nano_usd as used, budget_nano_usd as budget
    )
    select
      (select count(*) from taken),
      exists (
        select from new_spend
        join spend
          on spend.organization_id = new_spend.organization_id collate "C"
          and spend.key_id = new_spend.key_id collate "C"
        where new_spend.used > spend.budget
      )
      or exists (select from new_runs where budget is null or used > budget)
    into held_count, is_over_budget;

    if held_count = size and not is_over_budget then
      -- Checked after the insert, so that a concurrently committed closing is visible.
      perform
      from unnest(p_hold_ids) as entered (hold_id)
      cross join closed_hold_retention retention
      left join closed_holds closed on closed.hold_id = entered.hold_id collate "C"
      where closed.hold_id is not null
        or (entered.hold_id collate "C" >= 'gen-' and entered.hold_id collate "C" < retention.oldest_retained_hold_id);
      if not found then
        return query select 'held', null::bigint, null::bigint, null::bigint, null::bigint from generate_series(1, size);
        return;
      end if;
    end if;
    raise exception using errcode = 'GW002';
  exception
    when sqlstate 'GW002' or unique_violation then
      null;
  end;

  -- Slow path: each hold in order.
  perform lock_accounts(p_organization_ids);
  now_ms := now_unix_ms();
  today := (to_timestamp(now_ms / 1000.0) at time zone 'UTC')::date;

  for item in
    select
      wanted.position::integer as position, wanted.hold_id, wanted.organization_id, wanted.amount,
      wanted.organization_budget, wanted.key_budget, wanted.run_id, wanted.run_budget,
      run.budget_nano_usd as known_run_budget,
      coalesce(run.spent_nano_usd + run.held_nano_usd, 0) as run_used,
      coalesce(run.held_nano_usd, 0) as run_held,
      account.available_nano_usd as available, account.held_nano_usd as held,
      coalesce(of_organization.spent_nano_usd + of_organization.held_nano_usd, 0) as organization_used,
      coalesce(of_organization.held_nano_usd, 0) as organization_held,
      coalesce(of_key.spent_nano_usd + of_key.held_nano_usd, 0) as key_used,
      coalesce(of_key.held_nano_usd, 0) as key_held,
      coalesce(open.organization_id, closed.organization_id) as known_organization_id,
      open.hold_id is null as is_not_open,
      wanted.hold_id collate "C" >= 'gen-'
        and wanted.hold_id collate "C" < retention.oldest_retained_hold_id as is_expired,
      (min(wanted.position) over (partition by wanted.organization_id))::integer as organization_slot,
      (min(wanted.position) over (partition by wanted.organization_id, wanted.key_id))::integer as key_slot,
      (min(wanted.position) over (partition by wanted.organization_id, wanted.run_id))::integer as run_slot
    from unnest(
        p_hold_ids, p_organization_ids, p_key_ids, p_amounts, p_organization_budgets, p_key_budgets,
        p_run_ids, p_run_budgets
      ) with ordinality as wanted (
        hold_id, organization_id, key_id, amount, organization_budget, key_budget,
        run_id, run_budget, position
      )
    cross join closed_hold_retention retention
    join accounts account on account.organization_id = wanted.organization_id collate "C"
    left join daily_spend of_organization
      on of_organization.organization_id = wanted.organization_id collate "C"
      and of_organization.day = today and of_organization.key_id = ''
    left join daily_spend of_key
      on of_key.organization_id = wanted.organization_id collate "C"
      and of_key.day = today and of_key.key_id = wanted.key_id collate "C"
    left join runs run
      on run.organization_id = wanted.organization_id collate "C" and run.run_id = wanted.run_id collate "C"
    left join open_holds open on open.hold_id = wanted.hold_id collate "C"
    left join closed_holds closed on closed.hold_id = wanted.hold_id collate "C"
    order by wanted.position
  loop
    outcome := 'held';
    available_nano_usd := null;
    limit_nano_usd := null;
    used_nano_usd := null;
    held_nano_usd := null;

    if item.known_organization_id <> item.organization_id then
      outcome := 'foreign';
      return next;
      continue;
    end if;

    if item.known_organization_id is not null or item.is_expired then
      if item.is_not_open then
        outcome := 'closed';
      end if;
      return next;
      continue;
    end if;

    if item.run_id is not null then
      run_budget := coalesce(item.known_run_budget, fixed_run_budgets[item.run_slot], item.run_budget);
      if run_budget is null then
        outcome := 'unknown_run';
        return next;
        continue;
      end if;
    end if;

    amount_left := item.available - taken_by_organization[item.organization_slot];
    if amount_left < item.amount then
      outcome := 'insufficient_credits';
      available_nano_usd := amount_left;
      held_nano_usd := item.held + taken_by_organization[item.organization_slot];
      return next;
      continue;
    end if;

    if item.run_id is not null then
      run_used := item.run_used + taken_by_run[item.run_slot];
      if run_budget - run_used < item.amount then
        outcome := 'run_budget_exceeded';
        limit_nano_usd := run_budget;
        used_nano_usd := run_used;
        held_nano_usd := item.run_held + taken_by_run[item.run_slot];
        return next;
        continue;
      end if;
    end if;

    if item.key_budget is not null then
      key_used := item.key_used + taken_by_key[item.key_slot];
      if item.key_budget - key_used < item.amount then
        outcome := 'key_budget_exceeded';
        limit_nano_usd := item.key_budget;
        used_nano_usd := key_used;
        held_nano_usd := item.key_held + taken_by_key[item.key_slot];
        return next;
        continue;
      end if;
    end if;

    if item.organization_budget is not null then
      organization_used := item.organization_used + taken_by_organization[item.organization_slot];
      if item.organization_budget - organization_used < item.amount then
        outcome := 'organization_budget_exceeded';
        limit_nano_usd := item.organization_budget;
        used_nano_usd := organization_used;
        held_nano_usd := item.organization_held + taken_by_organization[item.organization_slot];
        return next;
        continue;
      end if;
    end if;

    accepted[item.position] := true;
    accepted_ids := accepted_ids || item.hold_id;
    taken_by_organization[item.organization_slot] := taken_by_organization[item.organization_slot] + item.amount;
    taken_by_key[item.key_slot] := taken_by_key[item.key_slot] + item.amount;
    if item.run_id is not null then
      taken_by_run[item.run_slot] := taken_by_run[item.run_slot] + item.amount;
      fixed_run_budgets[item.run_slot] := run_budget;
    end if;
    return next;
  end loop;

  if cardinality(accepted_ids) = 0 then
    return;
  end if;

  with taken as materialized (
    select *
    from unnest(
        p_hold_ids, p_organization_ids, p_key_ids, p_amounts, p_prices,
        p_created_unix_ms, p_lifetimes_ms, p_idempotency_scopes, p_run_ids, p_run_budgets, accepted
      ) with ordinality as wanted (
        hold_id, organization_id, key_id, amount, prices,
        created_unix_ms, lifetime_ms, idempotency_scope, run_id, run_budget, is_accepted, position
      )
    where wanted.is_accepted
  ),
  new_holds as (
    insert into open_holds (
      hold_id, organization_id, key_id, amount_nano_usd, prices,
      day, created_unix_ms, deadline_unix_ms, idempotency_scope, run_id
    )
    select
      hold_id, organization_id, key_id, amount, prices,
      today, created_unix_ms, now_ms + lifetime_ms, idempotency_scope, run_id
    from taken
  ),
  new_postings as (
    insert into postings (reference, kind, organization_id, posted_unix_ms, credit_nano_usd, held_nano_usd)
    select hold_id, 'hold', organization_id, now_ms, -amount, amount
    from taken
  ),
  new_spend as (
    insert into daily_spend as total (organization_id, day, key_id, held_nano_usd)
    select organization_id, today, coalesce(key_id, ''), sum(amount)::bigint
    from taken
    group by grouping sets ((organization_id), (organization_id, key_id))
    on conflict (organization_id, day, key_id)
      do update set held_nano_usd = total.held_nano_usd + excluded.held_nano_usd
  ),
  new_runs as (
    insert into runs as run (
      organization_id, run_id, budget_nano_usd, held_nano_usd, created_unix_ms, last_held_unix_ms
    )
    select organization_id, run_id, (array_agg(run_budget order by position))[1], sum(amount)::bigint, now_ms, now_ms
    from taken
    where run_id is not null
    group by organization_id, run_id
    on conflict (organization_id, run_id) do update set
      held_nano_usd = run.held_nano_usd + excluded.held_nano_usd, last_held_unix_ms = excluded.last_held_unix_ms
  )
  update accounts account
  set
    available_nano_usd = account.available_nano_usd - batch.amount,
    held_nano_usd = account.held_nano_usd + batch.amount
  from (select organization_id, sum(amount)::bigint as amount from taken group by organization_id) batch
  where account.organization_id = batch.organization_id collate "C";

  perform assert_never_closed(accepted_ids);
end
$$;
