-- Extends the leases of running claims that these generations still hold.
create or replace function renew_idempotency_claims(p_scopes text[], p_generation_ids text[], p_lease_ms bigint)
returns void
language plpgsql
set plan_cache_mode = force_generic_plan set enable_seqscan = off set enable_hashjoin = off set enable_mergejoin = off
as $$
declare
  lease_ends bigint;
begin
  -- Locked in the same order as in settlement.
  perform from idempotency_claims where scope = any (p_scopes) order by scope for update;
  lease_ends := now_unix_ms() + p_lease_ms;

  update idempotency_claims claim
  set lease_ends_unix_ms = greatest(claim.lease_ends_unix_ms, lease_ends)
  from unnest(p_scopes, p_generation_ids) as named (scope, generation_id)
  where claim.scope = named.scope collate "C"
    and claim.generation_id = named.generation_id collate "C"
    and claim.state = 'running';
end
$$;
