-- Applies what settlement decided about claims that lock_for_settlement has
-- locked: completes those with a response, releases those without.
create or replace function close_idempotency_claims(
  p_scopes text[], p_generation_ids text[], p_responses_json bytea[], p_responses_events bytea[], p_retention_ms bigint
) returns void
language plpgsql
set plan_cache_mode = force_generic_plan set enable_seqscan = off set enable_hashjoin = off set enable_mergejoin = off
as $$
declare
  retained_until constant bigint := now_unix_ms() + p_retention_ms;
begin
  update idempotency_claims claim
  set
    state = 'completed', generation_id = named.generation_id, response_json = named.response_json,
    response_events = named.response_events, retained_until_unix_ms = retained_until
  from unnest(p_scopes, p_generation_ids, p_responses_json, p_responses_events)
    as named (scope, generation_id, response_json, response_events)
  where claim.scope = named.scope collate "C" and named.response_json is not null;

  update idempotency_claims claim
  set state = 'released'
  from unnest(p_scopes, p_generation_ids, p_responses_json) as named (scope, generation_id, response_json)
  where claim.scope = named.scope collate "C"
    and claim.generation_id = named.generation_id collate "C"
    and claim.state = 'running'
    and named.response_json is null;
end
$$;
