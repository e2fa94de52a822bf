-- Adds up what was settled before p_until_unix_ms, a whole hour that no running
-- transaction is older than, and was not reported yet: at most p_limit
-- organizations and a day of each, from its first posting on. One row per
-- organization and hour of admission, without an hour when nothing was settled
-- for a day. The caller announces the rows in the same transaction. No row:
-- nothing to report, or another process is running it.
create or replace function tell_settlements(p_until_unix_ms bigint, p_limit integer)
returns table (
  organization_id text, from_unix_ms bigint, until_unix_ms bigint,
  hour_unix_ms bigint, generations bigint, cost_nano_usd bigint, charged_nano_usd bigint
)
language plpgsql
set plan_cache_mode = force_generic_plan set enable_seqscan = off set enable_hashjoin = off set enable_mergejoin = off
as $$
#variable_conflict use_column
declare
  progress settlements_told_progress;
  chosen_ids text[];
begin
  if not pg_try_advisory_xact_lock(hashtextextended(current_schema || '.tell_settlements', 0)) then
    return;
  end if;

  insert into settlements_told_progress default values on conflict do nothing;
  select * into progress from settlements_told_progress;
  select coalesce(array_agg(organization_id), '{}') into chosen_ids
  from (
    select organization_id from accounts
    where organization_id > progress.after_organization_id
    order by organization_id
    limit p_limit
  ) chosen;
  update settlements_told_progress
  set after_organization_id = case when cardinality(chosen_ids) < p_limit then '' else chosen_ids[p_limit] end;

  return query
  with begun as materialized (
    select
      chosen.id,
      coalesce(
        told.until_unix_ms,
        (
          select posting.posted_unix_ms / 3600000 * 3600000
          from postings posting
          where posting.organization_id = chosen.id
          order by posting.posted_unix_ms
          limit 1
        )
      ) as begins
    from unnest(chosen_ids) as chosen (id)
    left join settlements_told told on told.organization_id = chosen.id
  ),
  due as materialized (
    select id, begins, least(p_until_unix_ms, begins + 86400000) as ends
    from begun
    where begins < p_until_unix_ms
  ),
  settled as materialized (
    select
      due.id, hour.begins as hour, count(*) as generations,
      sum(coalesce(hold.cost_nano_usd, posting.revenue_nano_usd))::bigint as cost,
      sum(posting.revenue_nano_usd + posting.uncollected_nano_usd)::bigint as charged
    from due
    join postings posting
      on posting.organization_id = due.id
      and posting.posted_unix_ms >= due.begins and posting.posted_unix_ms < due.ends
      and posting.kind = 'settlement'
    left join closed_holds hold on hold.hold_id = posting.reference
    cross join lateral (
      select coalesce(hold.created_unix_ms, posting.posted_unix_ms) / 3600000 * 3600000 as begins
    ) hour
    group by due.id, hour.begins
  ),
  told as (
    insert into settlements_told as known
    select due.id, due.ends from due
    -- An idle organization is reported once a day, not every hour.
    where due.ends - due.begins >= 86400000 or exists (select from settled where settled.id = due.id)
    on conflict (organization_id) do update set until_unix_ms = excluded.until_unix_ms
    returning organization_id
  )
  select due.id, due.begins, due.ends, settled.hour, settled.generations, settled.cost, settled.charged
  from told
  join due on due.id = told.organization_id
  left join settled on settled.id = due.id
  order by due.id, settled.hour;
end
$$;
