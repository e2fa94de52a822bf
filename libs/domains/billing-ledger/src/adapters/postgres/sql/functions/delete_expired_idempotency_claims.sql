-- Deletes at most p_limit claims past their retention. Skips claims that a
-- settlement or a renewal has locked; a later call deletes them.
create or replace function delete_expired_idempotency_claims(p_limit integer) returns integer
language plpgsql
as $$
declare
  deleted_count integer;
  now_ms constant bigint := now_unix_ms();
begin
  delete from idempotency_claims
  where scope in (
    select scope
    from idempotency_claims
    where retained_until_unix_ms <= now_ms
      and (lease_ends_unix_ms <= now_ms or state <> 'running')
    order by retained_until_unix_ms
    limit p_limit
    for update skip locked
  );
  get diagnostics deleted_count = row_count;
  return deleted_count;
end
$$;
