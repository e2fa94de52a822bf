-- Posts settlements of generations that lock_for_settlement has locked in this
-- transaction. Generation ids are distinct. p_releases is the amount of the open
-- hold; zero if the hold was voided or never placed. A generation without a hold
-- gets a settled one at the given prices, so that it is not posted again. The
-- whole batch is posted, or nothing.
create or replace function post_settlements(
  p_generation_ids text[],
  p_organization_ids text[],
  p_key_ids text[],
  p_project_ids text[],
  p_days date[],
  p_created_unix_ms bigint[],
  p_has_hold boolean[],
  p_releases bigint[],
  p_costs bigint[],
  p_charges bigint[],
  p_waived boolean[],
  p_prices text[],
  p_now_unix_ms bigint
) returns void
language plpgsql
set plan_cache_mode = force_generic_plan set enable_seqscan = off set enable_hashjoin = off set enable_mergejoin = off
as $$
declare
  closed_count integer;
  has_counters boolean;
begin
  perform lock_accounts(p_organization_ids);

  if not (true = all (p_has_hold)) then
    -- A generation without a hold may have no budget accounts yet, and its id must be inserted into open_holds first.
    insert into budget_accounts (organization_id, owner_id, day)
    select distinct named.organization_id, account.owner_id, account.day
    from unnest(p_organization_ids, p_days, p_key_ids, p_project_ids, p_has_hold)
      as named (organization_id, day, key_id, project_id, has_hold)
    cross join lateral budget_accounts_of(named.key_id, named.project_id, named.day) as account
    where not named.has_hold
    on conflict do nothing;

    insert into open_holds (
      hold_id, organization_id, key_id, project_id, amount_nano_usd, prices,
      day, created_unix_ms, deadline_unix_ms
    )
    select
      generation_id, organization_id, key_id, project_id, 0, prices,
      day, created_unix_ms, created_unix_ms
    from unnest(
        p_generation_ids, p_organization_ids, p_key_ids, p_project_ids, p_days, p_created_unix_ms, p_has_hold, p_prices
      ) as named (
        generation_id, organization_id, key_id, project_id, day, created_unix_ms, has_hold, prices
      )
    where not has_hold;

    perform assert_never_closed(
      array(select id from unnest(p_generation_ids, p_has_hold) as named (id, has_hold) where not has_hold)
    );
  end if;

  with booked as materialized (
    select
      named.*,
      -- Uncollected is the part of the cost that the balance could not pay.
      -- A waived cost is not owed, so it is neither revenue nor uncollected.
      case when is_waived then 0 else cost end as revenue,
      case when is_waived then 0 else cost - charged end as uncollected
    from unnest(
        p_generation_ids, p_organization_ids, p_key_ids, p_project_ids, p_days, p_releases, p_costs, p_charges, p_waived
      ) as named (
        generation_id, organization_id, key_id, project_id, day, released, cost, charged, is_waived
      )
  ),
  opened as (
    delete from open_holds hold
    using booked
    where hold.hold_id = booked.generation_id collate "C"
    returning hold.*, booked.cost, booked.charged
  ),
  closed as (
    insert into closed_holds (
      hold_id, organization_id, key_id, project_id, state, amount_nano_usd, prices,
      day, created_unix_ms, deadline_unix_ms, idempotency_scope, run_id, counted_hour, counters,
      closed_unix_ms, cost_nano_usd, charged_nano_usd
    )
    select
      hold_id, organization_id, key_id, project_id, 'settled', amount_nano_usd, prices,
      day, created_unix_ms, deadline_unix_ms, idempotency_scope, run_id, counted_hour, counters,
      p_now_unix_ms, cost, charged
    from opened
    returning hold_id, counters
  ),
  -- Voided holds have nothing left to release.
  late as (
    update closed_holds hold
    set state = 'settled', closed_unix_ms = p_now_unix_ms, cost_nano_usd = booked.cost, charged_nano_usd = booked.charged
    from booked
    where hold.hold_id = booked.generation_id collate "C" and booked.released = 0 and hold.state = 'voided'
    returning hold.hold_id, hold.organization_id, hold.run_id, hold.counters, booked.charged
  ),
  new_postings as (
    insert into postings (
      reference, kind, organization_id, posted_unix_ms,
      credit_nano_usd, held_nano_usd, revenue_nano_usd, uncollected_nano_usd
    )
    select
      generation_id, 'settlement', organization_id, p_now_unix_ms,
      released - charged, -released, revenue, -uncollected
    from booked
  ),
  moved_spend as (
    update budget_accounts total
    set
      spent_nano_usd = total.spent_nano_usd + batch.charged,
      held_nano_usd = total.held_nano_usd - batch.released
    from (
      select
        booked.organization_id, account.owner_id, account.day,
        sum(charged)::bigint as charged, sum(released)::bigint as released
      from booked
      cross join lateral budget_accounts_of(booked.key_id, booked.project_id, booked.day) as account
      group by booked.organization_id, account.owner_id, account.day
    ) batch
    where total.organization_id = batch.organization_id collate "C"
      and total.owner_id = batch.owner_id collate "C"
      and total.day = batch.day
  ),
  -- A generation without a hold counts against no run.
  moved_runs as (
    update runs run
    set
      spent_nano_usd = run.spent_nano_usd + batch.charged,
      held_nano_usd = run.held_nano_usd - batch.released
    from (
      select organization_id, run_id, sum(charged)::bigint as charged, sum(released)::bigint as released
      from (
        select organization_id, run_id, charged, amount_nano_usd as released from opened
        union all
        select organization_id, run_id, charged, 0 from late
      ) settled
      where run_id is not null
      group by organization_id, run_id
    ) batch
    where run.organization_id = batch.organization_id and run.run_id = batch.run_id
  ),
  moved_money as (
    update accounts account
    set
      available_nano_usd = account.available_nano_usd + batch.released - batch.charged,
      held_nano_usd = account.held_nano_usd - batch.released,
      charged_nano_usd = account.charged_nano_usd + batch.charged,
      uncollected_nano_usd = account.uncollected_nano_usd + batch.uncollected
    from (
      select
        organization_id, sum(released)::bigint as released, sum(charged)::bigint as charged,
        sum(uncollected)::bigint as uncollected
      from booked
      group by organization_id
    ) batch
    where account.organization_id = batch.organization_id collate "C"
  )
  select count(*), bool_or(counters is not null)
  into closed_count, has_counters
  from (select counters from closed union all select counters from late) settled;

  -- Closing a hold twice would post it twice; the caller repeats the batch and finds the earlier settlement.
  if closed_count <> cardinality(p_generation_ids) then
    raise unique_violation using message = format(
      '%s of %s holds could be closed', closed_count, cardinality(p_generation_ids)
    );
  end if;
  if has_counters then
    perform settle_counters(p_generation_ids, p_releases, p_charges);
  end if;
end
$$;
