-- Decides each hold individually in the given order: a refused hold reserves
-- nothing, so a smaller one after it may still be accepted. Hold ids within a call
-- are distinct. A hold that exists returns 'held' again while it is open, and
-- 'closed' once it was settled, voided, abandoned or deleted with its partition.
-- To another organization it returns 'foreign'. Its lifetime starts with this call.
-- It counts against its budgets, which are the text of a budget[], in the periods of
-- the current UTC day. A hold of a run has a budget of the run among them. The first
-- one fixes it; before that, one without an amount returns 'unknown_run'. A refusal
-- returns the part of the balance, or of the exceeded budget, that open holds reserve.
create or replace function hold_credit(
  p_hold_ids text[],
  p_organization_ids text[],
  p_key_ids text[],
  p_project_ids text[],
  p_run_ids text[],
  p_amounts bigint[],
  p_prices text[],
  p_budgets text[],
  p_created_unix_ms bigint[],
  p_lifetimes_ms bigint[],
  p_idempotency_scopes text[]
) returns setof hold_decision
language plpgsql
set plan_cache_mode = force_generic_plan set enable_seqscan = off set enable_hashjoin = off set enable_mergejoin = off
as $$
declare
  placed integer[];
  known record;
  now_ms bigint;
  decision hold_decision;
begin
  perform lock_accounts(p_organization_ids);
  now_ms := now_unix_ms();

  -- Nearly every batch is covered and placed as a whole.
  placed := place_covered_holds(
    array(select generate_series(1, cardinality(p_hold_ids))), p_hold_ids, p_organization_ids, p_key_ids,
    p_project_ids, p_run_ids, p_amounts, p_prices, p_budgets, p_created_unix_ms, p_lifetimes_ms,
    p_idempotency_scopes, now_ms
  );

  for i in 1 .. cardinality(p_hold_ids) loop
    decision := null;
    -- The others are placed one by one.
    if i = any (placed) or i = any (place_covered_holds(
      array[i], p_hold_ids, p_organization_ids, p_key_ids, p_project_ids, p_run_ids, p_amounts, p_prices, p_budgets,
      p_created_unix_ms, p_lifetimes_ms, p_idempotency_scopes, now_ms
    )) then
      decision.outcome := 'held';
      return next decision;
      continue;
    end if;

    select
      coalesce(open.organization_id, closed.organization_id) as organization_id,
      open.hold_id is not null as is_open,
      p_hold_ids[i] collate "C" >= 'gen-'
        and p_hold_ids[i] collate "C" < retention.oldest_retained_hold_id as is_expired,
      p_run_ids[i] is null or run.run_id is not null or exists (
        select from unnest(p_budgets[i]::budget[]) as budget where budget.scope = 'run' and amount_nano_usd is not null
      ) as has_known_run
    into known
    from closed_hold_retention retention
    left join open_holds open on open.hold_id = p_hold_ids[i] collate "C"
    left join closed_holds closed on closed.hold_id = p_hold_ids[i] collate "C"
    left join runs run
      on run.organization_id = p_organization_ids[i] collate "C" and run.run_id = p_run_ids[i] collate "C";
    if known.organization_id <> p_organization_ids[i] then
      decision.outcome := 'foreign';
    elsif known.is_open then
      decision.outcome := 'held';
    elsif known.organization_id is not null or known.is_expired then
      decision.outcome := 'closed';
    elsif not known.has_known_run then
      decision.outcome := 'unknown_run';
    else
      select * into strict decision
      from hold_refusal(
        p_organization_ids[i], p_budgets[i]::budget[], p_amounts[i],
        (to_timestamp(now_ms / 1000.0) at time zone 'UTC')::date
      );
    end if;
    return next decision;
  end loop;
end
$$;
