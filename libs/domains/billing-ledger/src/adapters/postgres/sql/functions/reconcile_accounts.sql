-- One run: compares at most p_limit organizations and records the differences.
-- Returns no row if another process is running it.
create or replace function reconcile_accounts(p_now_unix_ms bigint, p_before_unix_ms bigint, p_limit integer)
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
    progress.round_started_unix_ms := p_now_unix_ms;
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

  -- Recompute all sums before reporting a difference: a process with a slow clock
  -- may have added a posting to a time that was already summed.
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

  -- A settlement enters the sums only once, so known settlement differences are checked again here.
  delete from reconciliation_differences known
  where known.organization_id = any (chosen_ids)
    and not exists (
      select from unnest(compared) as latest
      where latest.organization_id = known.organization_id
        and latest.kind = known.kind and latest.reference = known.reference
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
    progress.reconciled_until_unix_ms := progress.round_started_unix_ms;
    progress.after_organization_id := '';
  else
    progress.after_organization_id := chosen_ids[cardinality(chosen_ids)];
  end if;
  update reconciliation_progress
  set
    after_organization_id = progress.after_organization_id,
    round_started_unix_ms = progress.round_started_unix_ms,
    reconciled_until_unix_ms = progress.reconciled_until_unix_ms,
    last_run_unix_ms = p_now_unix_ms;

  organizations := cardinality(chosen_ids);
  reconciled_until_unix_ms := progress.reconciled_until_unix_ms;
  return next;
end
$$;
