-- The ledger compares itself with its postings, a few organizations at a time.
-- What was added up before is kept, so that a comparison costs what happened
-- since, and not all that ever happened.

-- Sums of an organization's postings that were posted before a time.
create table reconciliation_sums (
  organization_id      text collate "C" primary key,
  before_unix_ms       bigint not null,
  credit_nano_usd      numeric not null,
  held_nano_usd        numeric not null,
  revenue_nano_usd     numeric not null,
  uncollected_nano_usd numeric not null,
  funding_nano_usd     numeric not null
);

-- Where the round through all organizations has come to.
create table reconciliation_progress (
  is_the_only_row          boolean primary key default true check (is_the_only_row),
  -- Empty at the beginning of a round.
  after_organization_id    text collate "C" not null default '',
  round_began_unix_ms      bigint not null default 0,
  -- When the last whole round began: what was wrong before it has been found. Zero before the first.
  reconciled_until_unix_ms bigint not null default 0,
  last_run_unix_ms         bigint not null default 0
);

-- What does not agree, for as long as it does not.
create table reconciliation_differences (
  organization_id    text collate "C" not null,
  kind               text collate "C" not null,
  -- The generation of a settlement; empty for what is of the whole organization.
  reference          text collate "C" not null,
  -- What the postings say, and what is there instead.
  expected_nano_usd  numeric not null,
  found_nano_usd     numeric not null,
  first_seen_unix_ms bigint not null,
  last_seen_unix_ms  bigint not null,
  primary key (organization_id, kind, reference)
);

-- Compares these organizations as of one snapshot, and keeps the sums of what
-- was posted before p_before_unix_ms: a time that no running transaction is
-- older than. Settlements are looked at once, when they enter the sums.
create function compare_with_postings(p_organization_ids text[], p_before_unix_ms bigint)
returns table (organization_id text, kind text, reference text, expected numeric, found numeric)
language plpgsql
set plan_cache_mode = force_generic_plan set enable_seqscan = off set enable_hashjoin = off set enable_mergejoin = off
as $$
#variable_conflict use_column
begin
  return query
  with chosen as materialized (
    select account.*, coalesce(known.before_unix_ms, -1) as from_unix_ms,
      coalesce(known.credit_nano_usd, 0) as known_credit, coalesce(known.held_nano_usd, 0) as known_held,
      coalesce(known.revenue_nano_usd, 0) as known_revenue,
      coalesce(known.uncollected_nano_usd, 0) as known_uncollected,
      coalesce(known.funding_nano_usd, 0) as known_funding
    from accounts account
    left join reconciliation_sums known on known.organization_id = account.organization_id
    where account.organization_id = any (p_organization_ids)
  ),
  summed as materialized (
    select chosen.organization_id,
      chosen.known_credit + coalesce(since.credit, 0) as credit, since.old_credit,
      chosen.known_held + coalesce(since.held, 0) as held, since.old_held,
      chosen.known_revenue + coalesce(since.revenue, 0) as revenue, since.old_revenue,
      chosen.known_uncollected + coalesce(since.uncollected, 0) as uncollected, since.old_uncollected,
      chosen.known_funding + coalesce(since.funding, 0) as funding, since.old_funding
    from chosen
    cross join lateral (
      select
        sum(credit_nano_usd) as credit, sum(credit_nano_usd) filter (where is_old) as old_credit,
        sum(held_nano_usd) as held, sum(held_nano_usd) filter (where is_old) as old_held,
        sum(revenue_nano_usd) as revenue, sum(revenue_nano_usd) filter (where is_old) as old_revenue,
        sum(uncollected_nano_usd) as uncollected,
        sum(uncollected_nano_usd) filter (where is_old) as old_uncollected,
        sum(funding_nano_usd) as funding, sum(funding_nano_usd) filter (where is_old) as old_funding
      from (
        select posting.*, posting.posted_unix_ms < p_before_unix_ms as is_old
        from postings posting
        where posting.organization_id = chosen.organization_id
          and posting.posted_unix_ms >= chosen.from_unix_ms
      ) posting
    ) since
  ),
  kept as (
    insert into reconciliation_sums as kept
    select chosen.organization_id, p_before_unix_ms,
      known_credit + coalesce(old_credit, 0), known_held + coalesce(old_held, 0),
      known_revenue + coalesce(old_revenue, 0), known_uncollected + coalesce(old_uncollected, 0),
      known_funding + coalesce(old_funding, 0)
    from chosen
    join summed on summed.organization_id = chosen.organization_id
    where chosen.from_unix_ms < p_before_unix_ms
    on conflict (organization_id) do update set
      before_unix_ms = excluded.before_unix_ms, credit_nano_usd = excluded.credit_nano_usd,
      held_nano_usd = excluded.held_nano_usd, revenue_nano_usd = excluded.revenue_nano_usd,
      uncollected_nano_usd = excluded.uncollected_nano_usd, funding_nano_usd = excluded.funding_nano_usd
  ),
  bound as (
    select hold.organization_id, sum(hold.amount_nano_usd) as amount
    from open_holds hold
    where hold.organization_id = any (p_organization_ids)
    group by hold.organization_id
  )
  select compared.*
  from (
    select chosen.organization_id, figure.kind, ''::text, figure.expected, figure.found
    from chosen
    join summed on summed.organization_id = chosen.organization_id
    left join bound on bound.organization_id = chosen.organization_id
    cross join lateral (values
      ('credited', -funding, chosen.credited_nano_usd::numeric),
      ('available', credit, chosen.available_nano_usd::numeric),
      ('held', held, chosen.held_nano_usd::numeric),
      -- What is owed for settled work, less what could not be collected of it.
      ('charged', revenue + uncollected, chosen.charged_nano_usd::numeric),
      ('uncollected', -uncollected, chosen.uncollected_nano_usd::numeric),
      ('open_holds', held, coalesce(bound.amount, 0))
    ) as figure (kind, expected, found)
    union all
    select chosen.organization_id, 'settlement', posting.reference,
      (posting.revenue_nano_usd + posting.uncollected_nano_usd)::numeric,
      coalesce(hold.charged_nano_usd, -1)::numeric
    from chosen
    cross join closed_hold_retention retention
    join postings posting
      on posting.organization_id = chosen.organization_id
      and posting.posted_unix_ms >= chosen.from_unix_ms and posting.posted_unix_ms < p_before_unix_ms
      and posting.kind = 'settlement'
      -- Of what is forgotten only the postings are left.
      and not (posting.reference >= 'gen-' and posting.reference < retention.first_kept_hold_id)
    left join closed_holds hold on hold.hold_id = posting.reference
  ) compared (organization_id, kind, reference, expected, found)
  where compared.expected <> compared.found;
end
$$;

-- One run: compares at most p_limit organizations and notes what differs. No
-- row: another process is at it.
create function reconcile_accounts(p_now_unix_ms bigint, p_before_unix_ms bigint, p_limit integer)
returns table (organizations integer, reconciled_until_unix_ms bigint)
language plpgsql
as $$
#variable_conflict use_column
declare
  progress reconciliation_progress;
  chosen_ids text[];
  differing_ids text[];
  compared reconciliation_differences[];
begin
  if not pg_try_advisory_xact_lock(hashtextextended(current_schema || '.reconcile_accounts', 0)) then
    return;
  end if;

  insert into reconciliation_progress default values on conflict do nothing;
  select * into progress from reconciliation_progress;
  if progress.after_organization_id = '' then
    progress.round_began_unix_ms := p_now_unix_ms;
  end if;

  select coalesce(array_agg(organization_id), '{}') into chosen_ids
  from (
    select organization_id from accounts
    where organization_id > progress.after_organization_id
    order by organization_id
    limit p_limit
  ) chosen;

  compared := array(
    select row(organization_id, kind, reference, expected, found, p_now_unix_ms, p_now_unix_ms)::reconciliation_differences
    from compare_with_postings(chosen_ids, p_before_unix_ms)
  );

  -- Before anything is called wrong all is added up anew: a posting may have
  -- come from a clock that is far behind, after its time was summed up.
  differing_ids := array(select distinct organization_id from unnest(compared) where kind <> 'settlement');
  if cardinality(differing_ids) > 0 then
    delete from reconciliation_sums where organization_id = any (differing_ids);
    compared := array(
      select row(one.*)::reconciliation_differences
      from unnest(compared) as one where organization_id <> all (differing_ids)
    ) || array(
      select row(organization_id, kind, reference, expected, found, p_now_unix_ms, p_now_unix_ms)::reconciliation_differences
      from compare_with_postings(differing_ids, p_before_unix_ms)
    );
  end if;

  -- Settlements enter the sums once, so those that were wrong are looked at again.
  delete from reconciliation_differences known
  where known.organization_id = any (chosen_ids)
    and not exists (
      select from unnest(compared) as again
      where again.organization_id = known.organization_id
        and again.kind = known.kind and again.reference = known.reference
    )
    and not (
      known.kind = 'settlement'
      and exists (
        select from postings posting
        left join closed_holds hold on hold.hold_id = posting.reference
        where posting.reference = known.reference and posting.kind = 'settlement'
          and posting.revenue_nano_usd + posting.uncollected_nano_usd <> coalesce(hold.charged_nano_usd, -1)
      )
    );
  insert into reconciliation_differences as known
  select * from unnest(compared)
  on conflict (organization_id, kind, reference) do update set
    expected_nano_usd = excluded.expected_nano_usd, found_nano_usd = excluded.found_nano_usd,
    last_seen_unix_ms = excluded.last_seen_unix_ms;

  if cardinality(chosen_ids) < p_limit then
    progress.reconciled_until_unix_ms := progress.round_began_unix_ms;
    progress.after_organization_id := '';
  else
    progress.after_organization_id := chosen_ids[cardinality(chosen_ids)];
  end if;
  update reconciliation_progress
  set
    after_organization_id = progress.after_organization_id,
    round_began_unix_ms = progress.round_began_unix_ms,
    reconciled_until_unix_ms = progress.reconciled_until_unix_ms,
    last_run_unix_ms = p_now_unix_ms;

  organizations := cardinality(chosen_ids);
  reconciled_until_unix_ms := progress.reconciled_until_unix_ms;
  return next;
end
$$;
