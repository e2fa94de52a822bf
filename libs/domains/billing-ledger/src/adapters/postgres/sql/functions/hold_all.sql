-- Takes all of these holds or none, which is how nearly every batch goes: each is
-- covered by its account and by the budgets that were given, and its id is new.
-- Nothing has to be decided one after the other then. Where that is not so
-- nothing is held, and an error of class GW says so, or that an id is there
-- already; hold_credit then decides each.
create or replace function hold_all(
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
) returns void
language plpgsql
set plan_cache_mode = force_generic_plan set enable_seqscan = off set enable_hashjoin = off set enable_mergejoin = off
as $$
#variable_conflict use_column
declare
  held_count integer;
  is_over_budget boolean;
begin
  with named as materialized (
    select
      hold_id,
      p_organization_ids[i] as organization_id,
      p_key_ids[i] as key_id,
      p_amounts[i] as amount,
      p_input_prices[i] as input_price,
      p_cached_input_prices[i] as cached_input_price,
      p_output_prices[i] as output_price,
      p_reasoning_prices[i] as reasoning_price,
      p_image_prices[i] as image_price,
      p_organization_budgets[i] as organization_budget,
      p_key_budgets[i] as key_budget,
      p_days[i] as day,
      p_created_unix_ms[i] as created_unix_ms,
      p_deadlines_unix_ms[i] as deadline_unix_ms,
      p_idempotency_scopes[i] as idempotency_scope
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
  -- Empty until every account is locked, in their order, and unless each has enough.
  taken as materialized (
    select * from named
    where (select count(*) from moved_money) = (select count(*) from batch)
  ),
  new_holds as (
    insert into open_holds (
      hold_id, organization_id, key_id, amount_nano_usd,
      input_nano_usd_per_million, cached_input_nano_usd_per_million, output_nano_usd_per_million,
      reasoning_nano_usd_per_million, image_nano_usd_per_million,
      day, created_unix_ms, deadline_unix_ms, idempotency_scope
    )
    select
      hold_id, organization_id, key_id, amount,
      input_price, cached_input_price, output_price, reasoning_price, image_price,
      day, created_unix_ms, deadline_unix_ms, idempotency_scope
    from taken
  ),
  new_postings as (
    insert into postings (reference, kind, organization_id, posted_unix_ms, credit_nano_usd, held_nano_usd)
    select hold_id, 'hold', organization_id, p_now_unix_ms, -amount, amount
    from taken
  ),
  spend as materialized (
    select
      organization_id, day, coalesce(key_id, '') as key_id, sum(amount)::bigint as amount,
      case when grouping(key_id) = 1 then min(organization_budget) else min(key_budget) end as budget
    from taken
    group by grouping sets ((organization_id, day), (organization_id, day, key_id))
  ),
  new_spend as (
    insert into daily_spend as total (organization_id, day, key_id, held_nano_usd)
    select organization_id, day, key_id, amount from spend
    on conflict (organization_id, day, key_id)
      do update set held_nano_usd = total.held_nano_usd + excluded.held_nano_usd
    returning organization_id, day, key_id, spent_nano_usd + held_nano_usd as used
  )
  select
    (select count(*) from taken),
    exists (
      select from new_spend
      join spend
        on spend.organization_id = new_spend.organization_id collate "C"
        and spend.day = new_spend.day
        and spend.key_id = new_spend.key_id collate "C"
      where new_spend.used > spend.budget
    )
  into held_count, is_over_budget;

  if held_count <> cardinality(p_hold_ids) or is_over_budget then
    raise exception using
      errcode = 'GW002',
      message = 'not all of these holds can be taken; each is decided by itself';
  end if;

  -- As assert_never_closed: after the ids were entered, by what is committed now.
  perform
  from unnest(p_hold_ids) as entered (hold_id)
  cross join closed_hold_retention retention
  left join closed_holds closed on closed.hold_id = entered.hold_id collate "C"
  where closed.hold_id is not null
    or (entered.hold_id collate "C" >= 'gen-' and entered.hold_id collate "C" < retention.first_kept_hold_id);
  if found then
    raise exception using
      errcode = 'GW002',
      message = 'one of these holds is closed; each is decided by itself';
  end if;
end
$$;
