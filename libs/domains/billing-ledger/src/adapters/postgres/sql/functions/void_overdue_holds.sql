-- Voids at most p_limit holds whose deadline has passed; returns their ids.
-- One process at a time: concurrent calls return nothing.
create or replace function void_overdue_holds(p_limit integer) returns setof text
language plpgsql
set plan_cache_mode = force_generic_plan set enable_seqscan = off
as $$
declare
  hold_ids text[];
  organization_ids text[];
  now_ms constant bigint := now_unix_ms();
begin
  if not pg_try_advisory_xact_lock(hashtextextended(current_schema || '.void_overdue_holds', 0)) then
    return;
  end if;

  select array_agg(overdue.hold_id), array_agg(overdue.organization_id)
  into hold_ids, organization_ids
  from (
    select hold_id, organization_id
    from open_holds
    where deadline_unix_ms < now_ms
    order by deadline_unix_ms
    limit p_limit
  ) overdue;

  if hold_ids is not null then
    -- Checks each hold again once the accounts are locked.
    return query select void_holds(hold_ids, organization_ids);
  end if;
end
$$;
