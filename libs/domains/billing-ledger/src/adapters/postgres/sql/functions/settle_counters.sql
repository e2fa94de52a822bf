-- Counts the charges of closed holds in their counters, by the hour of admission, and releases what they held; without
-- p_releases, their whole amounts. Called by functions that have locked the accounts and closed the holds.
create or replace function settle_counters(p_hold_ids text[], p_releases bigint[], p_charges bigint[]) returns void
language plpgsql
set plan_cache_mode = force_generic_plan set enable_seqscan = off set enable_hashjoin = off set enable_mergejoin = off
as $$
begin
  with settled as materialized (
    select
      hold.organization_id, counter collate "C" as counter,
      case when counter like '*%' then '-infinity' else hold.counted_hour end as hour,
      sum(p_charges[i])::bigint as charged,
      sum(case when p_releases is null then hold.amount_nano_usd else p_releases[i] end)::bigint as released
    from unnest(p_hold_ids) with ordinality as named (hold_id, i)
    join closed_holds hold on hold.hold_id = named.hold_id collate "C"
    cross join unnest(hold.counters) as counter
    group by 1, 2, 3
  ),
  new_spend as (
    insert into budget_hours as total (organization_id, counter, hour, spent_nano_usd)
    select organization_id, counter, hour, charged
    from settled
    on conflict (organization_id, counter, hour)
      do update set spent_nano_usd = total.spent_nano_usd + excluded.spent_nano_usd
  )
  update budget_hours total
  set held_nano_usd = total.held_nano_usd - batch.released
  from (
    select organization_id, counter, sum(released)::bigint as released
    from settled
    group by organization_id, counter
  ) batch
  where total.organization_id = batch.organization_id
    and total.counter = batch.counter
    and total.hour = 'infinity';
end
$$;
