-- Sums settlements that are not announced yet, up to p_until_unix_ms: a full hour
-- that no running transaction is older than. Covers at most p_limit organizations
-- and one day of each, starting at the first posting. Returns one row per
-- organization and hour of admission; an idle day has one row without an hour.
-- The caller announces the rows in the same transaction. No row means that there
-- is nothing to announce, or that another process is running this function.
create or replace function announce_settlement_windows(p_until_unix_ms bigint, p_limit integer)
returns table (
  organization_id text, from_unix_ms bigint, until_unix_ms bigint,
  hour_unix_ms bigint, generations bigint, cost_nano_usd bigint, charged_nano_usd bigint
)
language plpgsql
set plan_cache_mode = force_generic_plan set enable_seqscan = off set enable_hashjoin = off set enable_mergejoin = off
as $$
#variable_conflict use_column
declare
  progress settlement_window_progress;
  chosen_ids text[];
begin
  if not pg_try_advisory_xact_lock(hashtextextended(current_schema || '.announce_settlement_windows', 0)) then
    return;
  end if;

  insert into settlement_window_progress default values on conflict do nothing;
  select * into progress from settlement_window_progress;
  select coalesce(array_agg(organization_id), '{}') into chosen_ids
  from (
    select organization_id from accounts
    where organization_id > progress.after_organization_id
    order by organization_id
    limit p_limit
  ) chosen;
  update settlement_window_progress
  set after_organization_id = case when cardinality(chosen_ids) < p_limit then '' else chosen_ids[p_limit] end;

  return query
  with window_start as materialized (
    select
      chosen.id,
      coalesce(
        announced.until_unix_ms,
        (
          select posting.posted_unix_ms / 3600000 * 3600000
          from postings posting
          where posting.organization_id = chosen.id
          order by posting.posted_unix_ms
          limit 1
        )
      ) as starts
    from unnest(chosen_ids) as chosen (id)
    left join announced_settlement_windows announced on announced.organization_id = chosen.id
  ),
  due as materialized (
    select id, starts, least(p_until_unix_ms, starts + 86400000) as ends
    from window_start
    where starts < p_until_unix_ms
  ),
  settled as materialized (
    select
      due.id, hour.starts as hour, count(*) as generations,
      sum(coalesce(hold.cost_nano_usd, posting.revenue_nano_usd))::bigint as cost,
      sum(posting.revenue_nano_usd + posting.uncollected_nano_usd)::bigint as charged
    from due
    join postings posting
      on posting.organization_id = due.id
      and posting.posted_unix_ms >= due.starts and posting.posted_unix_ms < due.ends
      and posting.kind = 'settlement'
    left join closed_holds hold on hold.hold_id = posting.reference
    cross join lateral (
      select coalesce(hold.created_unix_ms, posting.posted_unix_ms) / 3600000 * 3600000 as starts
    ) hour
    group by due.id, hour.starts
  ),
  announced as (
    insert into announced_settlement_windows as known
    select due.id, due.ends from due
    -- An idle organization is reported once a day, not every hour.
    where due.ends - due.starts >= 86400000 or exists (select from settled where settled.id = due.id)
    on conflict (organization_id) do update set until_unix_ms = excluded.until_unix_ms
    returning organization_id
  )
  select due.id, due.starts, due.ends, settled.hour, settled.generations, settled.cost, settled.charged
  from announced
  join due on due.id = announced.organization_id
  left join settled on settled.id = due.id
  order by due.id, settled.hour;
end
$$;
