-- Deletes at most p_limit hours that the longest window, of 744 hours, no longer reaches; returns how many. Skips those
-- that a settlement has locked.
create or replace function delete_old_budget_hours(p_limit integer) returns integer
language plpgsql
as $$
declare
  deleted_count integer;
begin
  delete from budget_hours
  where (organization_id, owner_id, hour) in (
    select organization_id, owner_id, hour
    from budget_hours
    where hour < to_timestamp(now_unix_ms() / 1000.0) at time zone 'UTC' - interval '745 hours'
    limit p_limit
    for update skip locked
  );
  get diagnostics deleted_count = row_count;
  return deleted_count;
end
$$;
