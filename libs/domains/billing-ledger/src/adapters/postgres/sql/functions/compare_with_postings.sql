-- Compares balances of these organizations with their postings in one snapshot,
-- and stores the sums of postings before p_before_unix_ms. No running transaction
-- is older than that time. Each settlement is compared once, when it enters the sums.
create or replace function compare_with_postings(p_organization_ids text[], p_before_unix_ms bigint)
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
  stored_sums as (
    insert into reconciliation_sums
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
  open_totals as (
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
    left join open_totals on open_totals.organization_id = chosen.organization_id
    cross join lateral (values
      ('credited', -funding, chosen.credited_nano_usd::numeric),
      ('available', credit, chosen.available_nano_usd::numeric),
      ('held', held, chosen.held_nano_usd::numeric),
      -- What is owed for settled generations, less the uncollected part.
      ('charged', revenue + uncollected, chosen.charged_nano_usd::numeric),
      ('uncollected', -uncollected, chosen.uncollected_nano_usd::numeric),
      ('open_holds', held, coalesce(open_totals.amount, 0))
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
      -- Closed holds past their retention are deleted; only their postings remain.
      and not (posting.reference >= 'gen-' and posting.reference < retention.oldest_retained_hold_id)
    left join closed_holds hold on hold.hold_id = posting.reference
  ) compared (organization_id, kind, reference, expected, found)
  where compared.expected <> compared.found;
end
$$;
