-- Decides each hold individually in the given order: a refused hold reserves
-- nothing, so a smaller one after it may still be accepted. Hold ids within a call
-- are distinct. Returns a row for each hold that is not held. A hold that exists is
-- held again while it is open, and 'closed' once it was settled, voided, abandoned or
-- deleted with its partition. To another organization it is 'foreign'. Its lifetime
-- starts with this call. It counts against the budgets of its owners in the periods of
-- the current UTC day, and in windows up to its hour; of two amounts for a budget in a batch, the lower applies. A
-- budget with a counter applies to the holds that name the counter. The first hold of a run fixes the run's budget; before that, a hold that names none is
-- 'unknown_run'. A refusal returns the part of the balance, or of the exceeded budget,
-- that open holds reserve.
--
-- With p_ids_are_new, an id that was held before is a unique violation. The caller then
-- repeats the batch without it, and the ids are looked up before they are held.
create or replace function hold_credit(
  p_hold_ids text[],
  p_organization_ids text[],
  p_key_ids text[],
  p_project_ids text[],
  p_run_ids text[],
  p_run_budgets bigint[],
  p_amounts bigint[],
  p_prices text[],
  p_created_unix_ms bigint[],
  p_lifetimes_ms bigint[],
  p_idempotency_scopes text[],
  p_counters text[],
  p_budgets budget[],
  p_ids_are_new boolean
) returns setof hold_decision
language plpgsql
set plan_cache_mode = force_generic_plan set enable_seqscan = off set enable_hashjoin = off set enable_mergejoin = off
as $$
declare
  size constant integer := cardinality(p_hold_ids);
  over_budget text[] := '{}';
  placed integer[] := '{}';
  known record;
  now_ms bigint;
  today date;
  this_hour timestamp;
  decision hold_decision;
begin
  perform lock_accounts(p_organization_ids);
  now_ms := now_unix_ms();
  today := (to_timestamp(now_ms / 1000.0) at time zone 'UTC')::date;
  this_hour := date_trunc('hour', to_timestamp(now_ms / 1000.0) at time zone 'UTC');

  -- Nearly every batch is covered and placed as a whole.
  if p_ids_are_new then
    if cardinality(p_budgets) > 0 then
      with of_key as materialized (
        select organization_id, key_id, project_id, run_id, counters, sum(amount) as amount
        from unnest(p_organization_ids, p_key_ids, p_project_ids, p_run_ids, p_counters, p_amounts)
          as hold (organization_id, key_id, project_id, run_id, counters, amount)
        group by 1, 2, 3, 4, 5
      )
      select coalesce(array_agg(budget.organization_id), '{}')
      into over_budget
      from unnest(p_budgets) as budget
      cross join lateral budget_use(
        budget.organization_id, budget.scope, budget.owner_id, budget.period, budget.hours, budget.counter, today,
        this_hour
      ) as use
      where (
        coalesce(use.fixed, budget.amount_nano_usd) - use.used < (
          select sum(of_key.amount)
          from of_key
          where of_key.organization_id = budget.organization_id
            and budget.owner_id in ('', of_key.key_id, of_key.project_id, of_key.run_id)
            and (budget.counter is null or budget.counter = any (of_key.counters::text[]))
        )
      ) is not false;
    end if;
    placed := place_covered_holds(
      1, size, over_budget, p_hold_ids, p_organization_ids, p_key_ids, p_project_ids, p_run_ids, p_run_budgets,
      p_amounts, p_prices, p_created_unix_ms, p_lifetimes_ms, p_idempotency_scopes, p_counters, now_ms
    );
    if cardinality(placed) = size then
      return;
    end if;
  end if;

  -- The others are decided one by one.
  for i in 1 .. size loop
    continue when i = any (placed);
    select
      coalesce(open.organization_id, closed.organization_id) as organization_id,
      open.hold_id is not null as is_open,
      p_hold_ids[i] collate "C" >= 'gen-'
        and p_hold_ids[i] collate "C" < retention.oldest_retained_hold_id as is_expired,
      p_run_ids[i] is null or p_run_budgets[i] is not null or run.run_id is not null as has_known_run
    into known
    from closed_hold_retention retention
    left join open_holds open on open.hold_id = p_hold_ids[i] collate "C"
    left join closed_holds closed on closed.hold_id = p_hold_ids[i] collate "C"
    left join runs run
      on run.organization_id = p_organization_ids[i] collate "C" and run.run_id = p_run_ids[i] collate "C";

    decision := null;
    if known.organization_id <> p_organization_ids[i] then
      decision.outcome := 'foreign';
    elsif known.is_open then
      continue;
    elsif known.organization_id is not null or known.is_expired then
      decision.outcome := 'closed';
    elsif not known.has_known_run then
      decision.outcome := 'unknown_run';
    else
      select * into decision
      from hold_refusal(
        p_organization_ids[i], p_key_ids[i], p_project_ids[i], p_run_ids[i], p_run_budgets[i], p_budgets,
        p_counters[i]::text[], p_amounts[i], today, this_hour
      );
      if not found then
        perform place_covered_holds(
          i, i, '{}', p_hold_ids, p_organization_ids, p_key_ids, p_project_ids, p_run_ids, p_run_budgets,
          p_amounts, p_prices, p_created_unix_ms, p_lifetimes_ms, p_idempotency_scopes, p_counters, now_ms
        );
        continue;
      end if;
    end if;
    decision.position := i;
    return next decision;
  end loop;
end
$$;
