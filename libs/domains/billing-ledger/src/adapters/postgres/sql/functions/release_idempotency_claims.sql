-- Releases the running claims that these generations still hold. A claim whose only
-- generation never had a hold is deleted: such a generation cannot have run, so no
-- settlement of it follows.
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
    and claim.generation_ids = array[claim.generation_id]
    and not exists (select from open_holds where hold_id = claim.generation_id)
    and not exists (select from closed_holds where hold_id = claim.generation_id);

  update idempotency_claims claim
  set state = 'released'
  from unnest(p_scopes, p_generation_ids) as named (scope, generation_id)
  where claim.scope = named.scope collate "C"
    and claim.generation_id = named.generation_id collate "C"
    and claim.state = 'running';
end
$$;
