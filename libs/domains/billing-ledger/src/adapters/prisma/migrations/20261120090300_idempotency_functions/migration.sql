-- Claims of Idempotency-Keys. Settlement completes and releases claims too,
-- after it has locked the accounts; nothing here locks an account.

-- Gives the claim to the generation, or says who has it. A running claim whose
-- lease has ended may be taken over for the same body; one that was released,
-- or is past its retention, for any.
create function claim_idempotency_key(
  p_scope text, p_organization_id text, p_body_sha256 bytea, p_generation_id text,
  p_now_unix_ms bigint, p_lease_ends_unix_ms bigint, p_retained_until_unix_ms bigint
) returns table (outcome text, generation_id text, response_json bytea)
language plpgsql
as $$
#variable_conflict use_column
declare
  -- Claimants of one body that are remembered; a client that retries without end fills no table.
  max_generation_ids constant integer := 64;
  known idempotency_claims;
  same_body boolean;
  forgotten boolean;
begin
  loop
    insert into idempotency_claims (
      scope, organization_id, body_sha256, generation_id, generation_ids, state,
      lease_ends_unix_ms, retained_until_unix_ms
    )
    values (
      p_scope, p_organization_id, p_body_sha256, p_generation_id, array[p_generation_id], 'running',
      p_lease_ends_unix_ms, p_retained_until_unix_ms
    )
    on conflict do nothing;
    if found then
      return query select 'claimed', null::text, null::bytea;
      return;
    end if;

    select * into known from idempotency_claims where scope = p_scope for update;
    -- Gone when it was trimmed in between.
    exit when found;
  end loop;

  same_body := known.body_sha256 = p_body_sha256 and known.organization_id = p_organization_id;
  forgotten := known.retained_until_unix_ms <= p_now_unix_ms
    and (known.lease_ends_unix_ms <= p_now_unix_ms or known.state <> 'running');

  if not forgotten and known.state <> 'released' and not same_body then
    return query select 'body_mismatch', null::text, null::bytea;
  elsif not forgotten and known.state = 'completed' then
    return query select 'completed', known.generation_id, known.response_json;
  elsif
    not forgotten and known.state = 'running' and known.generation_id <> p_generation_id
    and known.lease_ends_unix_ms > p_now_unix_ms
  then
    return query select 'in_flight', null::text, null::bytea;
  else
    update idempotency_claims
    set
      organization_id = p_organization_id,
      body_sha256 = p_body_sha256,
      generation_id = p_generation_id,
      generation_ids = case
        when forgotten or not same_body then array[p_generation_id]
        else (array_remove(known.generation_ids, p_generation_id) || p_generation_id)
          [greatest(1, cardinality(known.generation_ids) - max_generation_ids + 2):]
      end,
      state = 'running',
      response_json = null,
      lease_ends_unix_ms = p_lease_ends_unix_ms,
      retained_until_unix_ms = p_retained_until_unix_ms
    where scope = p_scope;
    return query select 'claimed', null::text, null::bytea;
  end if;
end
$$;

-- Prolongs the leases of running claims that these generations still hold.
create function renew_idempotency_claims(p_scopes text[], p_generation_ids text[], p_lease_ends_unix_ms bigint)
returns void
language plpgsql
set plan_cache_mode = force_generic_plan set enable_seqscan = off set enable_hashjoin = off set enable_mergejoin = off
as $$
begin
  -- In the order in which settlement locks them.
  perform from idempotency_claims where scope = any (p_scopes) order by scope for update;

  update idempotency_claims claim
  set lease_ends_unix_ms = greatest(claim.lease_ends_unix_ms, p_lease_ends_unix_ms)
  from unnest(p_scopes, p_generation_ids) as named (scope, generation_id)
  where claim.scope = named.scope collate "C"
    and claim.generation_id = named.generation_id collate "C"
    and claim.state = 'running';
end
$$;

-- Writes down what settlement decided about claims that open_settlements has
-- locked: completes those with an answer, releases those without.
create function close_idempotency_claims(
  p_scopes text[], p_generation_ids text[], p_responses_json bytea[], p_retained_until_unix_ms bigint
) returns void
language plpgsql
set plan_cache_mode = force_generic_plan set enable_seqscan = off set enable_hashjoin = off set enable_mergejoin = off
as $$
begin
  update idempotency_claims claim
  set
    state = 'completed', generation_id = named.generation_id, response_json = named.response_json,
    retained_until_unix_ms = p_retained_until_unix_ms
  from unnest(p_scopes, p_generation_ids, p_responses_json) as named (scope, generation_id, response_json)
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

-- Forgets at most p_limit claims past their retention. Claims that a
-- settlement or a renewal has locked are passed over until the next time.
create function trim_idempotency_claims(p_now_unix_ms bigint, p_limit integer) returns integer
language plpgsql
as $$
declare
  trimmed integer;
begin
  delete from idempotency_claims
  where scope in (
    select scope
    from idempotency_claims
    where retained_until_unix_ms <= p_now_unix_ms
      and (lease_ends_unix_ms <= p_now_unix_ms or state <> 'running')
    order by retained_until_unix_ms
    limit p_limit
    for update skip locked
  );
  get diagnostics trimmed = row_count;
  return trimmed;
end
$$;
