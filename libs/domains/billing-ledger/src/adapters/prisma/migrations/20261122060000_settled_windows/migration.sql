-- The ledger tells whoever keeps the usage what it settled, an organization and
-- some whole hours at a time, so that they can compare.

-- Until when an organization's settlements were told.
create table settlements_told (
  organization_id text collate "C" primary key,
  until_unix_ms   bigint not null
);

-- Where the round through all organizations has come to.
create table settlements_told_progress (
  is_the_only_row       boolean primary key default true check (is_the_only_row),
  -- Empty at the beginning of a round.
  after_organization_id text collate "C" not null default '',
  -- What was settled before is never told.
  begins_unix_ms        bigint not null default 0
);

-- A version from before this one announces another time than it posts, by
-- milliseconds. In an hour or two none of its processes is left.
insert into settlements_told_progress (begins_unix_ms)
select case when exists (select from accounts) then (extract(epoch from now())::bigint / 3600 + 2) * 3600000 else 0 end;

-- Adds up what was settled before p_until_unix_ms, a whole hour that no running
-- transaction is older than, and was not told yet: at most p_limit organizations
-- and a day of each. A row per organization and hour of admission, without an
-- hour when nothing was settled for a day. Whoever calls this announces the
-- rows in the same transaction. No row: nothing to tell, or another process is at it.
create function tell_settlements(p_until_unix_ms bigint, p_limit integer)
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
        greatest(
          progress.begins_unix_ms,
          (select min(posting.posted_unix_ms) from postings posting where posting.organization_id = chosen.id)
            / 3600000 * 3600000
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
    -- So that an organization that rests is told of once a day, not every hour.
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
