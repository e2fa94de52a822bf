-- Locks the accounts in order of id and creates missing ones. Every function that
-- moves money calls this first. Each account is looked up once per batch: its row
-- has one dead version per batch since the last vacuum, and every lookup follows
-- that chain.
create or replace function lock_accounts(p_organization_ids text[]) returns void
language plpgsql
set plan_cache_mode = force_generic_plan set enable_seqscan = off set enable_hashjoin = off set enable_mergejoin = off
as $$
begin
  if (select count(*) from accounts where organization_id = any (p_organization_ids))
    < (select count(distinct id) from unnest(p_organization_ids) as named (id))
  then
    insert into accounts (organization_id)
    select distinct id collate "C" from unnest(p_organization_ids) as named (id)
    order by 1
    on conflict do nothing;
  end if;

  perform from accounts
  where organization_id = any (p_organization_ids)
  order by organization_id
  for update;
end
$$;
