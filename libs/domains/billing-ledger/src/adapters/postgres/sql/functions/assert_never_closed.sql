-- Called right after hold ids are inserted into open_holds. Another organization
-- may have closed the same id since it was looked up; the error makes the caller
-- repeat the batch, which then finds the closed hold.
create or replace function assert_never_closed(p_hold_ids text[]) returns void
language plpgsql
set plan_cache_mode = force_generic_plan set enable_seqscan = off set enable_hashjoin = off set enable_mergejoin = off
as $$
declare
  known_id text;
begin
  select hold.hold_id
  into known_id
  from unnest(p_hold_ids) as entered (hold_id)
  join closed_holds hold on hold.hold_id = entered.hold_id collate "C"
  limit 1;
  if found then
    raise unique_violation using message = format('hold %s is closed', known_id);
  end if;
end
$$;
