-- Applies what settlement decided about claims that lock_for_settlement has
-- locked: completes those with a response, releases those without.
create or replace function close_idempotency_claims(
  p_scopes text[], p_generation_ids text[], p_encrypted_responses bytea[], p_response_keys bytea[], p_retention_ms bigint
) returns void
language plpgsql
set plan_cache_mode = force_generic_plan set enable_seqscan = off set enable_hashjoin = off set enable_mergejoin = off
as $$
declare
  retained_until constant bigint := now_unix_ms() + p_retention_ms;
begin
  update idempotency_claims claim
  set
    state = 'completed', generation_id = named.generation_id, encrypted_response = named.encrypted_response,
    response_key = coalesce(named.response_key, claim.response_key), retained_until_unix_ms = retained_until
  from unnest(p_scopes, p_generation_ids, p_encrypted_responses, p_response_keys)
    as named (scope, generation_id, encrypted_response, response_key)
  where claim.scope = named.scope collate "C" and named.encrypted_response is not null;

  update idempotency_claims claim
  set state = 'released'
  from unnest(p_scopes, p_generation_ids, p_encrypted_responses) as named (scope, generation_id, encrypted_response)
  where claim.scope = named.scope collate "C"
    and claim.generation_id = named.generation_id collate "C"
    and claim.state = 'running'
    and named.encrypted_response is null;
end
$$;
