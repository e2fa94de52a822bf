-- Deletes at most p_limit hours that the longest period, of 744 hours, no longer reaches, and with the last hour of a
-- counter its row of what is held, if that is nothing; returns how many hours. Skips rows that a settlement has locked.
create or replace function delete_old_budget_hours(p_limit integer) returns integer
language plpgsql
as $$
declare
  deleted_count integer;
begin
  with deleted as (
    delete from budget_hours
    where (organization_id, counter, hour) in (
      select organization_id, counter, hour
      from budget_hours
      where hour > '-infinity' and hour < to_timestamp(now_unix_ms() / 1000.0) at time zone 'UTC' - interval '745 hours'
      limit p_limit
      for update skip locked
    )
    returning organization_id, counter, hour
  ),
  idle as (
    delete from budget_hours
    where (organization_id, counter, hour) in (
      select total.organization_id, total.counter, total.hour
      from (select distinct organization_id, counter from deleted) old
      join budget_hours total using (organization_id, counter)
      where total.hour = 'infinity' and total.held_nano_usd = 0
        and not exists (
          select
          from budget_hours other
          where other.organization_id = old.organization_id and other.counter = old.counter and other.hour < 'infinity'
            -- The statement still sees the hours that it deletes.
            and (other.organization_id, other.counter, other.hour) not in (select * from deleted)
        )
      for update of total skip locked
    )
  )
  select count(*) into deleted_count from deleted;
  return deleted_count;
end
$$;
