-- Releases the running claims that these generations still hold. A claim without an earlier generation, whose response
-- could still arrive, is deleted: refused requests leave no rows.
create or replace function release_idempotency_claims(p_scopes text[], p_generation_ids text[])
returns void
language plpgsql
set plan_cache_mode = force_generic_plan set enable_seqscan = off set enable_hashjoin = off set enable_mergejoin = off
as $$
begin
  -- Locked in the same order as in settlement.
  perform from idempotency_claims where scope = any (p_scopes) order by scope for update;

  delete from idempotency_claims claim
  using unnest(p_scopes, p_generation_ids) as named (scope, generation_id)
  where claim.scope = named.scope collate "C"
    and claim.generation_id = named.generation_id collate "C"
    and claim.state = 'running'
    and cardinality(claim.generation_ids) = 1;

  update idempotency_claims claim
  set state = 'released'
  from unnest(p_scopes, p_generation_ids) as named (scope, generation_id)
  where claim.scope = named.scope collate "C"
    and claim.generation_id = named.generation_id collate "C"
    and claim.state = 'running';
end
$$;
