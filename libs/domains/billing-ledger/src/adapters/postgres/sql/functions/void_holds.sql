-- Releases open holds in full and returns the ids of those it closed. Closed
-- holds and those of another organization stay unchanged. Unknown ids become
-- abandoned holds.
create or replace function void_holds(p_hold_ids text[], p_organization_ids text[])
returns setof text
language plpgsql
set plan_cache_mode = force_generic_plan set enable_seqscan = off set enable_hashjoin = off set enable_mergejoin = off
as $$
declare
  abandoned_ids text[];
  now_ms bigint;
begin
  -- A concurrent hold_credit has either committed by now, or waits for this lock and then finds the row below.
  perform lock_accounts(p_organization_ids);
  now_ms := now_unix_ms();

  with unknown as (
    insert into open_holds (
      hold_id, organization_id, key_id, amount_nano_usd, prices,
      day, created_unix_ms, deadline_unix_ms
    )
    select distinct on (named.hold_id)
      named.hold_id, named.organization_id, '', 0, '',
      (to_timestamp(now_ms / 1000.0) at time zone 'UTC')::date, now_ms, now_ms
    from unnest(p_hold_ids, p_organization_ids) as named (hold_id, organization_id)
    cross join closed_hold_retention retention
    left join open_holds open on open.hold_id = named.hold_id collate "C"
    left join closed_holds closed on closed.hold_id = named.hold_id collate "C"
    where open.hold_id is null and closed.hold_id is null
      and not (named.hold_id collate "C" >= 'gen-' and named.hold_id collate "C" < retention.oldest_retained_hold_id)
    on conflict do nothing
    returning hold_id
  )
  select array_agg(hold_id) into abandoned_ids from unknown;

  if abandoned_ids is not null then
    perform assert_never_closed(abandoned_ids);

    with abandoned as (
      delete from open_holds where hold_id = any (abandoned_ids) returning *
    )
    insert into closed_holds (
      hold_id, organization_id, key_id, state, amount_nano_usd, prices,
      day, created_unix_ms, deadline_unix_ms, closed_unix_ms
    )
    select hold_id, organization_id, key_id, 'abandoned', 0, '',
      day, created_unix_ms, deadline_unix_ms, now_ms
    from abandoned;
  end if;

  return query
  with opened as (
    delete from open_holds hold
    using (
      select distinct hold_id, organization_id
      from unnest(p_hold_ids, p_organization_ids) as named (hold_id, organization_id)
    ) wanted
    where hold.hold_id = wanted.hold_id collate "C"
      and hold.organization_id = wanted.organization_id collate "C"
    returning hold.*
  ),
  closed as (
    insert into closed_holds (
      hold_id, organization_id, key_id, project_id, state, amount_nano_usd, prices,
      day, created_unix_ms, deadline_unix_ms, idempotency_scope, run_id, counted_hour, counters, closed_unix_ms
    )
    select
      hold_id, organization_id, key_id, project_id, 'voided', amount_nano_usd, prices,
      day, created_unix_ms, deadline_unix_ms, idempotency_scope, run_id, counted_hour, counters, now_ms
    from opened
    returning hold_id, organization_id, key_id, project_id, day, run_id, counted_hour, counters, amount_nano_usd as amount
  ),
  new_postings as (
    insert into postings (reference, kind, organization_id, posted_unix_ms, credit_nano_usd, held_nano_usd)
    select hold_id, 'void', organization_id, now_ms, amount, -amount
    from closed
  ),
  less_spend as (
    update budget_accounts total
    set held_nano_usd = total.held_nano_usd - batch.amount
    from (
      select closed.organization_id, account.owner_id, account.day, sum(amount)::bigint as amount
      from closed
      cross join lateral budget_accounts_of(closed.key_id, closed.project_id, closed.day) as account
      group by closed.organization_id, account.owner_id, account.day
    ) batch
    where total.organization_id = batch.organization_id
      and total.owner_id = batch.owner_id collate "C"
      and total.day = batch.day
  ),
  less_counted_holds as (
    update budget_hours total
    set held_nano_usd = total.held_nano_usd - batch.amount
    from (
      select organization_id, counter, sum(amount)::bigint as amount
      from closed
      cross join unnest(counters) as counter
      group by organization_id, counter
    ) batch
    where total.organization_id = batch.organization_id
      and total.counter = batch.counter collate "C"
      and total.hour = 'infinity'
  ),
  -- So that delete_old_budget_hours finds counters whose holds were all voided.
  empty_hours as (
    insert into budget_hours (organization_id, counter, hour)
    select distinct organization_id, counter, counted_hour
    from closed
    cross join unnest(counters) as counter
    where counter not like '*%'
    on conflict do nothing
  ),
  less_run_spend as (
    update runs run
    set held_nano_usd = run.held_nano_usd - batch.amount
    from (
      select organization_id, run_id, sum(amount)::bigint as amount
      from closed
      where run_id is not null
      group by organization_id, run_id
    ) batch
    where run.organization_id = batch.organization_id and run.run_id = batch.run_id
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
