-- Fast path of settlement, in one statement. Each generation must have an open
-- hold of its organization, at these prices, that covers the cost and has no
-- Idempotency-Key. The full cost is charged and the rest of the hold released.
-- If any generation differs, nothing is posted and the function raises GW001;
-- the caller then continues with lock_for_settlement.
create or replace function settle_open_holds(
  p_generation_ids text[],
  p_organization_ids text[],
  p_costs bigint[],
  p_prices text[],
  p_now_unix_ms bigint
) returns void
language plpgsql
set plan_cache_mode = force_generic_plan set enable_seqscan = off set enable_hashjoin = off set enable_mergejoin = off
as $$
#variable_conflict use_column
declare
  settled_count integer;
  has_counters boolean;
begin
  perform lock_accounts(p_organization_ids);

  with named as (
    select
      generation_id,
      p_organization_ids[i] as organization_id,
      p_costs[i] as cost,
      p_prices[i] as prices
    from unnest(p_generation_ids) with ordinality as named (generation_id, i)
  ),
  opened as (
    delete from open_holds hold
    using named
    where hold.hold_id = named.generation_id collate "C"
      and hold.organization_id = named.organization_id collate "C"
      and hold.amount_nano_usd >= named.cost
      and hold.prices = named.prices collate "C"
      and hold.idempotency_scope is null
    returning hold.*, named.cost
  ),
  closed as (
    insert into closed_holds (
      hold_id, organization_id, key_id, project_id, state, amount_nano_usd, prices,
      day, created_unix_ms, deadline_unix_ms, run_id, counted_hour, counters,
      closed_unix_ms, cost_nano_usd, charged_nano_usd
    )
    select
      hold_id, organization_id, key_id, project_id, 'settled', amount_nano_usd, prices,
      day, created_unix_ms, deadline_unix_ms, run_id, counted_hour, counters, p_now_unix_ms, cost, cost
    from opened
  ),
  new_postings as (
    insert into postings (
      reference, kind, organization_id, posted_unix_ms, credit_nano_usd, held_nano_usd, revenue_nano_usd
    )
    select hold_id, 'settlement', organization_id, p_now_unix_ms, amount_nano_usd - cost, -amount_nano_usd, cost
    from opened
  ),
  -- Sums per key first: a batch often has many generations of a key.
  moved_spend as (
    update budget_accounts total
    set
      spent_nano_usd = total.spent_nano_usd + batch.cost,
      held_nano_usd = total.held_nano_usd - batch.amount
    from (
      select
        of_key.organization_id, account.owner_id, account.day,
        sum(of_key.cost)::bigint as cost, sum(of_key.amount)::bigint as amount
      from (
        select
          organization_id, key_id, project_id, day, sum(cost)::bigint as cost, sum(amount_nano_usd)::bigint as amount
        from opened
        group by organization_id, key_id, project_id, day
      ) of_key
      cross join lateral budget_accounts_of(of_key.key_id, of_key.project_id, of_key.day) as account
      group by of_key.organization_id, account.owner_id, account.day
    ) batch
    where total.organization_id = batch.organization_id
      and total.owner_id = batch.owner_id collate "C"
      and total.day = batch.day
  ),
  moved_runs as (
    update runs run
    set
      spent_nano_usd = run.spent_nano_usd + batch.cost,
      held_nano_usd = run.held_nano_usd - batch.amount
    from (
      select organization_id, run_id, sum(cost)::bigint as cost, sum(amount_nano_usd)::bigint as amount
      from opened
      where run_id is not null
      group by organization_id, run_id
    ) batch
    where run.organization_id = batch.organization_id and run.run_id = batch.run_id
  ),
  moved_money as (
    update accounts account
    set
      available_nano_usd = account.available_nano_usd + batch.amount - batch.cost,
      held_nano_usd = account.held_nano_usd - batch.amount,
      charged_nano_usd = account.charged_nano_usd + batch.cost
    from (
      select organization_id, sum(cost)::bigint as cost, sum(amount_nano_usd)::bigint as amount
      from opened
      group by organization_id
    ) batch
    where account.organization_id = batch.organization_id
  )
  select count(*), bool_or(counters is not null) from opened into settled_count, has_counters;

  if settled_count <> cardinality(p_generation_ids) then
    raise exception using
      errcode = 'GW001',
      message = format(
        '%s of %s generations have no matching open hold; the batch takes the slow path',
        cardinality(p_generation_ids) - settled_count, cardinality(p_generation_ids)
      );
  end if;
  if has_counters then
    perform settle_counters(p_generation_ids, null, p_costs);
  end if;
end
$$;
