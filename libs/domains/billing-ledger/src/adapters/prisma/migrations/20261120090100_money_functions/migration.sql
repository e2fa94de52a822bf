-- Every function here that moves money works on a whole batch and begins with
-- lock_accounts. That one order of locking is what keeps batches that overlap
-- from deadlocking: nothing else may be locked before the accounts.
--
-- The planner settings pin plans to primary-key lookups: without them a plan
-- made while a table was small would scan it whole once it is large.

create function lock_accounts(p_organization_ids text[]) returns void
language plpgsql
set plan_cache_mode = force_generic_plan set enable_seqscan = off set enable_hashjoin = off set enable_mergejoin = off
as $$
begin
  insert into accounts (organization_id)
  select distinct wanted.organization_id collate "C"
  from unnest(p_organization_ids) as wanted (organization_id)
  where not exists (
    select from accounts known where known.organization_id = wanted.organization_id collate "C"
  )
  order by 1
  on conflict do nothing;

  perform from accounts
  where organization_id = any (p_organization_ids)
  order by organization_id
  for update;
end
$$;

-- Decides each hold on its own in the order given: a refused one takes nothing,
-- so a smaller one behind it may still pass. Hold ids within a call differ.
-- A hold that exists answers 'held' again, or 'foreign' to another organization.
create function hold_credit(
  p_hold_ids text[],
  p_organization_ids text[],
  p_key_ids text[],
  p_amounts bigint[],
  p_input_prices bigint[],
  p_cached_input_prices bigint[],
  p_output_prices bigint[],
  p_reasoning_prices bigint[],
  p_image_prices bigint[],
  p_organization_budgets bigint[],
  p_key_budgets bigint[],
  p_days date[],
  p_created_unix_ms bigint[],
  p_deadlines_unix_ms bigint[],
  p_idempotency_scopes text[],
  p_now_unix_ms bigint
) returns table (outcome text, available_nano_usd bigint, used_nano_usd bigint)
language plpgsql
set plan_cache_mode = force_generic_plan set enable_seqscan = off set enable_hashjoin = off set enable_mergejoin = off
as $$
#variable_conflict use_column
declare
  item record;
  size integer := cardinality(p_hold_ids);
  accepted boolean[] := array_fill(false, array[size]);
  accepted_count integer := 0;
  -- Taken so far in this batch, by the position of the first item of the same
  -- organization, organization and day, key and day.
  taken_by_organization bigint[] := array_fill(0::bigint, array[size]);
  taken_by_organization_day bigint[] := array_fill(0::bigint, array[size]);
  taken_by_key_day bigint[] := array_fill(0::bigint, array[size]);
  amount_left bigint;
  organization_used bigint;
  key_used bigint;
begin
  perform lock_accounts(p_organization_ids);

  for item in
    select
      wanted.position::integer as position, wanted.organization_id, wanted.amount,
      wanted.organization_budget, wanted.key_budget,
      account.available_nano_usd as available,
      coalesce(of_organization.spent_nano_usd + of_organization.held_nano_usd, 0) as organization_used,
      coalesce(of_key.spent_nano_usd + of_key.held_nano_usd, 0) as key_used,
      known.organization_id as known_organization_id,
      (min(wanted.position) over (partition by wanted.organization_id))::integer as organization_slot,
      (min(wanted.position) over (partition by wanted.organization_id, wanted.day))::integer as organization_day_slot,
      (min(wanted.position) over (partition by wanted.organization_id, wanted.day, wanted.key_id))::integer as key_day_slot
    from unnest(
        p_hold_ids, p_organization_ids, p_key_ids, p_amounts, p_organization_budgets, p_key_budgets, p_days
      ) with ordinality as wanted (
        hold_id, organization_id, key_id, amount, organization_budget, key_budget, day, position
      )
    join accounts account on account.organization_id = wanted.organization_id collate "C"
    left join daily_spend of_organization
      on of_organization.organization_id = wanted.organization_id collate "C"
      and of_organization.day = wanted.day and of_organization.key_id = ''
    left join daily_spend of_key
      on of_key.organization_id = wanted.organization_id collate "C"
      and of_key.day = wanted.day and of_key.key_id = wanted.key_id collate "C"
    left join holds known on known.hold_id = wanted.hold_id collate "C"
    order by wanted.position
  loop
    outcome := 'held';
    available_nano_usd := null;
    used_nano_usd := null;

    if item.known_organization_id is not null then
      if item.known_organization_id <> item.organization_id then
        outcome := 'foreign';
      end if;
      return next;
      continue;
    end if;

    amount_left := item.available - taken_by_organization[item.organization_slot];
    if amount_left < item.amount then
      outcome := 'insufficient_credits';
      available_nano_usd := amount_left;
      return next;
      continue;
    end if;

    if item.key_budget is not null then
      key_used := item.key_used + taken_by_key_day[item.key_day_slot];
      if item.key_budget - key_used < item.amount then
        outcome := 'key_budget_exceeded';
        used_nano_usd := key_used;
        return next;
        continue;
      end if;
    end if;

    if item.organization_budget is not null then
      organization_used := item.organization_used + taken_by_organization_day[item.organization_day_slot];
      if item.organization_budget - organization_used < item.amount then
        outcome := 'organization_budget_exceeded';
        used_nano_usd := organization_used;
        return next;
        continue;
      end if;
    end if;

    accepted[item.position] := true;
    accepted_count := accepted_count + 1;
    taken_by_organization[item.organization_slot] := taken_by_organization[item.organization_slot] + item.amount;
    taken_by_organization_day[item.organization_day_slot] :=
      taken_by_organization_day[item.organization_day_slot] + item.amount;
    taken_by_key_day[item.key_day_slot] := taken_by_key_day[item.key_day_slot] + item.amount;
    return next;
  end loop;

  if accepted_count = 0 then
    return;
  end if;

  with taken as materialized (
    select *
    from unnest(
        p_hold_ids, p_organization_ids, p_key_ids, p_amounts,
        p_input_prices, p_cached_input_prices, p_output_prices, p_reasoning_prices, p_image_prices,
        p_days, p_created_unix_ms, p_deadlines_unix_ms, p_idempotency_scopes, accepted
      ) as wanted (
        hold_id, organization_id, key_id, amount,
        input_price, cached_input_price, output_price, reasoning_price, image_price,
        day, created_unix_ms, deadline_unix_ms, idempotency_scope, is_accepted
      )
    where wanted.is_accepted
  ),
  new_holds as (
    insert into holds (
      hold_id, organization_id, key_id, state, amount_nano_usd,
      input_nano_usd_per_million, cached_input_nano_usd_per_million, output_nano_usd_per_million,
      reasoning_nano_usd_per_million, image_nano_usd_per_million,
      day, created_unix_ms, deadline_unix_ms, idempotency_scope
    )
    select
      hold_id, organization_id, key_id, 'held', amount,
      input_price, cached_input_price, output_price, reasoning_price, image_price,
      day, created_unix_ms, deadline_unix_ms, idempotency_scope
    from taken
  ),
  new_postings as (
    insert into postings (reference, kind, organization_id, posted_unix_ms, credit_nano_usd, held_nano_usd)
    select hold_id, 'hold', organization_id, p_now_unix_ms, -amount, amount
    from taken
  ),
  new_spend as (
    insert into daily_spend as total (organization_id, day, key_id, held_nano_usd)
    select organization_id, day, coalesce(key_id, ''), sum(amount)::bigint
    from taken
    group by grouping sets ((organization_id, day), (organization_id, day, key_id))
    on conflict (organization_id, day, key_id)
      do update set held_nano_usd = total.held_nano_usd + excluded.held_nano_usd
  )
  update accounts account
  set
    available_nano_usd = account.available_nano_usd - batch.amount,
    held_nano_usd = account.held_nano_usd + batch.amount
  from (select organization_id, sum(amount)::bigint as amount from taken group by organization_id) batch
  where account.organization_id = batch.organization_id collate "C";
end
$$;

-- Gives open holds back in full and returns the ids of those it closed. Holds
-- that are closed, unknown or of another organization are left alone.
create function void_holds(p_hold_ids text[], p_organization_ids text[], p_now_unix_ms bigint)
returns setof text
language plpgsql
set plan_cache_mode = force_generic_plan set enable_seqscan = off set enable_hashjoin = off set enable_mergejoin = off
as $$
begin
  perform lock_accounts(p_organization_ids);

  return query
  with wanted as materialized (
    select distinct hold_id, organization_id
    from unnest(p_hold_ids, p_organization_ids) as named (hold_id, organization_id)
  ),
  closed as (
    update holds hold
    set state = 'voided', closed_unix_ms = p_now_unix_ms
    from wanted
    where hold.hold_id = wanted.hold_id collate "C"
      and hold.organization_id = wanted.organization_id collate "C"
      and hold.state = 'held'
    returning hold.hold_id, hold.organization_id, hold.key_id, hold.day, hold.amount_nano_usd as amount
  ),
  new_postings as (
    insert into postings (reference, kind, organization_id, posted_unix_ms, credit_nano_usd, held_nano_usd)
    select hold_id, 'void', organization_id, p_now_unix_ms, amount, -amount
    from closed
  ),
  less_spend as (
    update daily_spend total
    set held_nano_usd = total.held_nano_usd - batch.amount
    from (
      select organization_id, day, coalesce(key_id, '') as key_id, sum(amount)::bigint as amount
      from closed
      group by grouping sets ((organization_id, day), (organization_id, day, key_id))
    ) batch
    where total.organization_id = batch.organization_id and total.day = batch.day and total.key_id = batch.key_id
  ),
  returned as (
    update accounts account
    set
      available_nano_usd = account.available_nano_usd + batch.amount,
      held_nano_usd = account.held_nano_usd - batch.amount
    from (select organization_id, sum(amount)::bigint as amount from closed group by organization_id) batch
    where account.organization_id = batch.organization_id
  )
  select closed.hold_id from closed;
end
$$;

-- Voids at most p_limit holds whose deadline has passed; returns their ids.
-- One process at a time: another that comes meanwhile returns nothing.
create function void_overdue_holds(p_now_unix_ms bigint, p_limit integer) returns setof text
language plpgsql
set plan_cache_mode = force_generic_plan set enable_seqscan = off
as $$
declare
  hold_ids text[];
  organization_ids text[];
begin
  if not pg_try_advisory_xact_lock(hashtextextended(current_schema || '.void_overdue_holds', 0)) then
    return;
  end if;

  select array_agg(overdue.hold_id), array_agg(overdue.organization_id)
  into hold_ids, organization_ids
  from (
    select hold_id, organization_id
    from holds
    where state = 'held' and deadline_unix_ms < p_now_unix_ms
    order by deadline_unix_ms
    limit p_limit
  ) overdue;

  if hold_ids is not null then
    -- It looks at each hold again once the accounts are locked.
    return query select void_holds(hold_ids, organization_ids, p_now_unix_ms);
  end if;
end
$$;

-- Adds prepaid credit once. A credit id that exists answers 'added' again when
-- it names the same credit, otherwise 'conflict'.
create function add_credit(
  p_credit_id text, p_organization_id text, p_amount bigint, p_note text, p_now_unix_ms bigint
) returns text
language plpgsql
as $$
declare
  known credits;
begin
  perform lock_accounts(array[p_organization_id]);

  insert into credits (credit_id, organization_id, amount_nano_usd, note, added_unix_ms)
  values (p_credit_id, p_organization_id, p_amount, p_note, p_now_unix_ms)
  on conflict do nothing;
  if not found then
    select * into known from credits where credit_id = p_credit_id;
    if known.organization_id = p_organization_id and known.amount_nano_usd = p_amount then
      return 'added';
    end if;
    return 'conflict';
  end if;

  insert into postings (reference, kind, organization_id, posted_unix_ms, credit_nano_usd, funding_nano_usd)
  values (p_credit_id, 'credit', p_organization_id, p_now_unix_ms, p_amount, -p_amount);

  update accounts
  set
    credited_nano_usd = credited_nano_usd + p_amount,
    available_nano_usd = available_nano_usd + p_amount
  where organization_id = p_organization_id;
  return 'added';
end
$$;
