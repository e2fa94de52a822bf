-- A caller that gets no answer to its hold gives it back, and that may arrive
-- first: the hold waits in a queue, or for a database that does not move. The
-- void then leaves a hold that was given up, which keeps the id from ever being
-- taken; without it the money would stay bound until the deadline.
alter table holds drop constraint holds_are_whole;
alter table holds add constraint holds_are_whole check (
  case state
    when 'held' then closed_unix_ms is null and cost_nano_usd is null and charged_nano_usd is null
    when 'voided' then closed_unix_ms is not null and cost_nano_usd is null and charged_nano_usd is null
    when 'given_up' then
      closed_unix_ms is not null and cost_nano_usd is null and charged_nano_usd is null and amount_nano_usd = 0
    when 'settled' then
      closed_unix_ms is not null
      and coalesce(charged_nano_usd between 0 and cost_nano_usd, false)
    else false
  end
);

-- Gives open holds back in full and returns the ids of those it closed. Closed
-- holds, and those of another organization, are left alone; unknown ones are
-- given up.
create or replace function void_holds(p_hold_ids text[], p_organization_ids text[], p_now_unix_ms bigint)
returns setof text
language plpgsql
set plan_cache_mode = force_generic_plan set enable_seqscan = off set enable_hashjoin = off set enable_mergejoin = off
as $$
begin
  -- A hold of these organizations is either taken by now, or waits for this lock and finds the row below.
  perform lock_accounts(p_organization_ids);

  insert into holds (
    hold_id, organization_id, key_id, state, amount_nano_usd,
    input_nano_usd_per_million, cached_input_nano_usd_per_million, output_nano_usd_per_million,
    reasoning_nano_usd_per_million, image_nano_usd_per_million,
    day, created_unix_ms, deadline_unix_ms, closed_unix_ms
  )
  select distinct on (named.hold_id)
    named.hold_id, named.organization_id, '', 'given_up', 0, 0, 0, 0, 0, 0,
    (to_timestamp(p_now_unix_ms / 1000.0) at time zone 'UTC')::date,
    p_now_unix_ms, p_now_unix_ms, p_now_unix_ms
  from unnest(p_hold_ids, p_organization_ids) as named (hold_id, organization_id)
  where not exists (select from holds known where known.hold_id = named.hold_id collate "C")
  on conflict do nothing;

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
