-- Claims an Idempotency-Key for the generation, or returns the state of the
-- existing claim. A running claim whose lease has ended may be taken over for the
-- same body; one that was released, or is past its retention, for any body. Both
-- times start when the claim succeeds. A claim keeps its response key for as long as
-- the generations that may have encrypted a response with it can settle.
create or replace function claim_idempotency_key(
  p_scope text, p_organization_id text, p_body_sha256 bytea, p_generation_id text,
  p_lease_ms bigint, p_retention_ms bigint, p_response_key bytea
) returns table (outcome text, generation_id text, response_key bytea, encrypted_response bytea)
language plpgsql
as $$
#variable_conflict use_column
declare
  -- Stored claimants per body: bounds the row when a client retries indefinitely.
  max_generation_ids constant integer := 64;
  known idempotency_claims;
  same_body boolean;
  is_expired boolean;
  now_ms bigint := now_unix_ms();
begin
  loop
    insert into idempotency_claims (
      scope, organization_id, body_sha256, generation_id, generation_ids, state,
      lease_ends_unix_ms, retained_until_unix_ms, response_key
    )
    values (
      p_scope, p_organization_id, p_body_sha256, p_generation_id, array[p_generation_id], 'running',
      now_ms + p_lease_ms, now_ms + p_retention_ms, p_response_key
    )
    on conflict do nothing;
    if found then
      return query select 'claimed', null::text, p_response_key, null::bytea;
      return;
    end if;

    select * into known from idempotency_claims where scope = p_scope for update;
    now_ms := now_unix_ms();
    -- Not found if it was deleted as expired in between.
    exit when found;
  end loop;

  same_body := known.body_sha256 = p_body_sha256 and known.organization_id = p_organization_id;
  is_expired := known.retained_until_unix_ms <= now_ms
    and (known.lease_ends_unix_ms <= now_ms or known.state <> 'running');

  if not is_expired and known.state <> 'released' and not same_body then
    return query select 'body_mismatch', null::text, null::bytea, null::bytea;
  elsif not is_expired and known.state = 'completed' then
    return query select 'completed', known.generation_id, known.response_key, known.encrypted_response;
  elsif
    not is_expired and known.state = 'running' and known.generation_id <> p_generation_id
    and known.lease_ends_unix_ms > now_ms
  then
    return query select 'in_flight', known.generation_id, null::bytea, null::bytea;
  else
    update idempotency_claims
    set
      organization_id = p_organization_id,
      body_sha256 = p_body_sha256,
      generation_id = p_generation_id,
      generation_ids = case
        when is_expired or not same_body then array[p_generation_id]
        else (array_remove(known.generation_ids, p_generation_id) || p_generation_id)
          [greatest(1, cardinality(known.generation_ids) - max_generation_ids + 2):]
      end,
      state = 'running',
      response_key = case when is_expired or not same_body then p_response_key else known.response_key end,
      encrypted_response = null,
      lease_ends_unix_ms = now_ms + p_lease_ms,
      retained_until_unix_ms = now_ms + p_retention_ms
    where scope = p_scope
    returning response_key into known.response_key;
    return query select 'claimed', null::text, known.response_key, null::bytea;
  end if;
end
$$;
