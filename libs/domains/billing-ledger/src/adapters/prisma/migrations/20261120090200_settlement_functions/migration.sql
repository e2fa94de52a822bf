-- Settlement is decided in the ledger's core, between these two calls of one
-- transaction: open_settlements locks and shows what the decision rests on,
-- book_settlements writes the decision down.

-- Locks the accounts, then the claims, and answers a row per generation in the
-- order given. The hold's columns are null when it is unknown, the claim's when
-- the generation never claimed it for the body that it is now about. A
-- generation that names no claim is looked up under the one of its hold.
create function open_settlements(p_generation_ids text[], p_organization_ids text[], p_scopes text[])
returns table (
  available_nano_usd bigint,
  hold_organization_id text,
  hold_state text,
  hold_key_id text,
  hold_amount_nano_usd bigint,
  hold_day text,
  input_nano_usd_per_million bigint,
  cached_input_nano_usd_per_million bigint,
  output_nano_usd_per_million bigint,
  reasoning_nano_usd_per_million bigint,
  image_nano_usd_per_million bigint,
  claim_scope text,
  claim_state text,
  claim_generation_id text
)
language plpgsql
set plan_cache_mode = force_generic_plan set enable_seqscan = off set enable_hashjoin = off set enable_mergejoin = off
as $$
#variable_conflict use_column
begin
  -- A process that stops between these two calls must not keep its locks for long.
  perform set_config('idle_in_transaction_session_timeout', '5s', true);
  perform lock_accounts(p_organization_ids);

  perform from idempotency_claims
  where scope = any (
    array(
      select coalesce(named.scope, hold.idempotency_scope)
      from unnest(p_generation_ids, p_scopes) as named (generation_id, scope)
      left join holds hold on hold.hold_id = named.generation_id collate "C"
    )
  )
  order by scope
  for update;

  return query
  select
    account.available_nano_usd,
    hold.organization_id,
    hold.state,
    hold.key_id,
    hold.amount_nano_usd,
    hold.day::text,
    hold.input_nano_usd_per_million,
    hold.cached_input_nano_usd_per_million,
    hold.output_nano_usd_per_million,
    hold.reasoning_nano_usd_per_million,
    hold.image_nano_usd_per_million,
    claim.scope,
    claim.state,
    claim.generation_id
  from unnest(p_generation_ids, p_organization_ids, p_scopes) with ordinality
    as wanted (generation_id, organization_id, scope, position)
  join accounts account on account.organization_id = wanted.organization_id collate "C"
  left join holds hold on hold.hold_id = wanted.generation_id collate "C"
  left join idempotency_claims claim
    on claim.scope = coalesce(wanted.scope, hold.idempotency_scope) collate "C"
    and wanted.generation_id = any (claim.generation_ids)
  order by wanted.position;
end
$$;

-- Books settlements of generations that open_settlements has locked in this
-- transaction; each is in it once. p_releases is what the generation's open
-- hold still bound, zero when it was voided or never taken. Where there was no
-- hold a settled one is written with the prices given, so that the generation
-- is not booked again.
create function book_settlements(
  p_generation_ids text[],
  p_organization_ids text[],
  p_key_ids text[],
  p_days date[],
  p_created_unix_ms bigint[],
  p_has_hold boolean[],
  p_releases bigint[],
  p_costs bigint[],
  p_charges bigint[],
  p_waived boolean[],
  p_input_prices bigint[],
  p_cached_input_prices bigint[],
  p_output_prices bigint[],
  p_reasoning_prices bigint[],
  p_image_prices bigint[],
  p_now_unix_ms bigint
) returns void
language plpgsql
set plan_cache_mode = force_generic_plan set enable_seqscan = off set enable_hashjoin = off set enable_mergejoin = off
as $$
begin
  -- A hold that was never seen has no row of its day yet.
  if not (true = all (p_has_hold)) then
    insert into daily_spend (organization_id, day, key_id)
    select distinct named.organization_id, named.day, subject.key_id
    from unnest(p_organization_ids, p_days, p_key_ids, p_has_hold) as named (organization_id, day, key_id, has_hold),
      lateral (values (''), (named.key_id)) as subject (key_id)
    where not named.has_hold
    on conflict do nothing;
  end if;

  with booked as materialized (
    select
      named.*,
      -- What is not collected: the rest of a cost that the balance could not
      -- pay. A waived cost is not owed, so it is neither revenue nor uncollected.
      case when is_waived then 0 else cost end as revenue,
      case when is_waived then 0 else cost - charged end as uncollected
    from unnest(
        p_generation_ids, p_organization_ids, p_key_ids, p_days, p_created_unix_ms, p_has_hold,
        p_releases, p_costs, p_charges, p_waived,
        p_input_prices, p_cached_input_prices, p_output_prices, p_reasoning_prices, p_image_prices
      ) as named (
        generation_id, organization_id, key_id, day, created_unix_ms, has_hold,
        released, cost, charged, is_waived,
        input_price, cached_input_price, output_price, reasoning_price, image_price
      )
  ),
  closed_holds as (
    update holds hold
    set state = 'settled', closed_unix_ms = p_now_unix_ms, cost_nano_usd = booked.cost, charged_nano_usd = booked.charged
    from booked
    where hold.hold_id = booked.generation_id collate "C" and booked.has_hold
  ),
  unseen_holds as (
    insert into holds (
      hold_id, organization_id, key_id, state, amount_nano_usd,
      input_nano_usd_per_million, cached_input_nano_usd_per_million, output_nano_usd_per_million,
      reasoning_nano_usd_per_million, image_nano_usd_per_million,
      day, created_unix_ms, deadline_unix_ms, closed_unix_ms, cost_nano_usd, charged_nano_usd
    )
    select
      generation_id, organization_id, key_id, 'settled', 0,
      input_price, cached_input_price, output_price, reasoning_price, image_price,
      day, created_unix_ms, created_unix_ms, p_now_unix_ms, cost, charged
    from booked
    where not has_hold
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
    update daily_spend total
    set
      spent_nano_usd = total.spent_nano_usd + batch.charged,
      held_nano_usd = total.held_nano_usd - batch.released
    from (
      select
        organization_id, day, coalesce(key_id, '') as key_id,
        sum(charged)::bigint as charged, sum(released)::bigint as released
      from booked
      group by grouping sets ((organization_id, day), (organization_id, day, key_id))
    ) batch
    where total.organization_id = batch.organization_id collate "C"
      and total.day = batch.day
      and total.key_id = batch.key_id collate "C"
  )
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
  where account.organization_id = batch.organization_id collate "C";
end
$$;
