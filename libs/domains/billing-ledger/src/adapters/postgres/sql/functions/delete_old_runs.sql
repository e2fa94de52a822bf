-- Deletes at most p_limit runs whose holds have all been deleted with their
-- partitions; returns how many. Skips runs that a hold has locked.
create or replace function delete_old_runs(p_limit integer) returns integer
language plpgsql
as $$
declare
  deleted_count integer;
begin
  delete from runs
  where (organization_id, run_id) in (
    select organization_id, run_id
    from runs
    where created_unix_ms < (select oldest_retained_unix_ms from closed_hold_retention)
      and last_held_unix_ms < (select oldest_retained_unix_ms from closed_hold_retention)
      and held_nano_usd = 0
    limit p_limit
    for update skip locked
  );
  get diagnostics deleted_count = row_count;
  return deleted_count;
end
$$;
