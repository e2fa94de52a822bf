-- Locks the accounts, then the claims, and returns one row per generation in the
-- given order. The hold's columns are null if there is no hold, the claim's if
-- the generation never claimed the key for its current body. A generation
-- without a scope uses the scope of its hold. A hold that was deleted with its
-- partition is returned as abandoned.
create or replace function lock_for_settlement(p_generation_ids text[], p_organization_ids text[], p_scopes text[])
returns table (
  available_nano_usd bigint,
  hold_organization_id text,
  hold_state text,
  hold_key_id text,
  hold_project_id text,
  hold_amount_nano_usd bigint,
  hold_day text,
  hold_prices text,
  claim_scope text,
  claim_state text,
  claim_generation_id text
)
language plpgsql
set plan_cache_mode = force_generic_plan set enable_seqscan = off set enable_hashjoin = off set enable_mergejoin = off
as $$
#variable_conflict use_column
begin
  perform lock_accounts(p_organization_ids);

  perform from idempotency_claims
  where scope = any (
    array(
      select coalesce(named.scope, open.idempotency_scope, closed.idempotency_scope)
      from unnest(p_generation_ids, p_scopes) as named (generation_id, scope)
      left join open_holds open on open.hold_id = named.generation_id collate "C"
      left join closed_holds closed on closed.hold_id = named.generation_id collate "C"
    )
  )
  order by scope
  for update;

  return query
  select
    account.available_nano_usd,
    coalesce(open.organization_id, closed.organization_id, expired.organization_id),
    case when open.hold_id is not null then 'held' else coalesce(closed.state, expired.state) end,
    coalesce(open.key_id, closed.key_id, ''),
    coalesce(open.project_id, closed.project_id),
    coalesce(open.amount_nano_usd, closed.amount_nano_usd, 0),
    coalesce(open.day, closed.day, 'epoch'::date)::text,
    coalesce(open.prices, closed.prices, ''),
    claim.scope,
    claim.state,
    claim.generation_id
  from unnest(p_generation_ids, p_organization_ids, p_scopes) with ordinality
    as wanted (generation_id, organization_id, scope, position)
  join accounts account on account.organization_id = wanted.organization_id collate "C"
  -- Not the view "holds": a join with it would scan both tables.
  left join open_holds open on open.hold_id = wanted.generation_id collate "C"
  left join closed_holds closed on closed.hold_id = wanted.generation_id collate "C"
  left join lateral (
    select wanted.organization_id, 'abandoned' as state
    from closed_hold_retention retention
    where wanted.generation_id collate "C" >= 'gen-'
      and wanted.generation_id collate "C" < retention.oldest_retained_hold_id
  ) expired on true
  left join idempotency_claims claim
    on claim.scope = coalesce(wanted.scope, open.idempotency_scope, closed.idempotency_scope) collate "C"
    and wanted.generation_id = any (claim.generation_ids)
  order by wanted.position;
end
$$;
