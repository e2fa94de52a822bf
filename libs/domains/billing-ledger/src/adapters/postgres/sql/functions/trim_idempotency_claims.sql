-- Forgets at most p_limit claims past their retention. Claims that a
-- settlement or a renewal has locked are passed over until the next time.
create or replace function trim_idempotency_claims(p_now_unix_ms bigint, p_limit integer) returns integer
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
