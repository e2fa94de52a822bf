-- Places the holds of a batch from one position to another, and returns the positions of those that it placed. Leaves
-- out the holds of the given organizations, and of an organization whose balance does not cover their sum. Its only
-- caller, hold_credit, has locked the accounts and compared the budgets, and its planner settings apply. An id that was
-- held before is a unique violation.
create or replace function place_covered_holds(
  p_first integer,
  p_last integer,
  p_left_out_organization_ids text[],
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
  p_now_unix_ms bigint
) returns integer[]
language plpgsql
as $$
declare
  today constant date := (to_timestamp(p_now_unix_ms / 1000.0) at time zone 'UTC')::date;
  this_hour constant timestamp := date_trunc('hour', to_timestamp(p_now_unix_ms / 1000.0) at time zone 'UTC');
  placed_positions integer[];
begin
  with wanted as materialized (
    select
      i as position,
      p_hold_ids[i] as hold_id,
      p_organization_ids[i] as organization_id,
      p_key_ids[i] as key_id,
      p_project_ids[i] as project_id,
      p_run_ids[i] as run_id,
      p_amounts[i] as amount,
      p_prices[i] as prices,
      p_run_budgets[i] as run_budget,
      p_created_unix_ms[i] as created_unix_ms,
      p_lifetimes_ms[i] as lifetime_ms,
      p_idempotency_scopes[i] as idempotency_scope,
      p_counters[i]::text[] as counters
    from generate_series(p_first, p_last) as i
    where p_organization_ids[i] <> all (p_left_out_organization_ids)
  ),
  moved_money as (
    update accounts account
    set
      available_nano_usd = account.available_nano_usd - batch.amount,
      held_nano_usd = account.held_nano_usd + batch.amount
    from (
      select organization_id collate "C" as organization_id, sum(amount)::bigint as amount
      from wanted
      group by 1
    ) batch
    where account.organization_id = batch.organization_id and account.available_nano_usd >= batch.amount
    returning account.organization_id
  ),
  placed as materialized (
    select *
    from wanted
    where organization_id in (select organization_id from moved_money)
  ),
  new_holds as (
    insert into open_holds (
      hold_id, organization_id, key_id, amount_nano_usd, prices,
      day, created_unix_ms, deadline_unix_ms, idempotency_scope, run_id, project_id,
      counted_hour, counters
    )
    select
      hold_id, organization_id, key_id, amount, prices,
      today, created_unix_ms, p_now_unix_ms + lifetime_ms, idempotency_scope, run_id, project_id,
      case when counters is not null then this_hour end, counters
    from placed
  ),
  new_postings as (
    insert into postings (reference, kind, organization_id, posted_unix_ms, credit_nano_usd, held_nano_usd)
    select hold_id, 'hold', organization_id, p_now_unix_ms, -amount, amount
    from placed
  ),
  new_spend as (
    insert into budget_accounts as total (organization_id, owner_id, day, held_nano_usd)
    select of_key.organization_id, account.owner_id, account.day, sum(of_key.amount)::bigint
    from (
      select organization_id, key_id, project_id, sum(amount)::bigint as amount
      from placed
      group by organization_id, key_id, project_id
    ) of_key
    cross join lateral budget_accounts_of(of_key.key_id, of_key.project_id, today) as account
    group by of_key.organization_id, account.owner_id, account.day
    on conflict (organization_id, owner_id, day)
      do update set held_nano_usd = total.held_nano_usd + excluded.held_nano_usd
  ),
  new_runs as (
    insert into runs as run (
      organization_id, run_id, budget_nano_usd, held_nano_usd, created_unix_ms, last_held_unix_ms
    )
    -- The first hold fixes the budget of a run. A run that exists keeps it, and its holds may name none.
    select
      organization_id, run_id, coalesce((array_agg(run_budget order by position))[1], 0),
      sum(amount)::bigint, p_now_unix_ms, p_now_unix_ms
    from placed
    where run_id is not null
    group by organization_id, run_id
    on conflict (organization_id, run_id) do update set
      held_nano_usd = run.held_nano_usd + excluded.held_nano_usd, last_held_unix_ms = excluded.last_held_unix_ms
  )
  select array_agg(position) into placed_positions from placed;

  -- In a statement of its own, so that holds without counters do not pay for it.
  if cardinality(array_remove(p_counters, null)) > 0 then
    insert into budget_hours as total (organization_id, counter, hour, held_nano_usd)
    select p_organization_ids[i], counter, 'infinity', sum(p_amounts[i])::bigint
    from unnest(placed_positions) as i
    cross join unnest(p_counters[i]::text[]) as counter
    group by p_organization_ids[i], counter
    on conflict (organization_id, counter, hour)
      do update set held_nano_usd = total.held_nano_usd + excluded.held_nano_usd;
  end if;

  -- Checked after the insert, so that a concurrently committed closing is visible.
  perform
  from unnest(placed_positions) as i
  cross join closed_hold_retention retention
  left join closed_holds closed on closed.hold_id = p_hold_ids[i] collate "C"
  where closed.hold_id is not null
    or (p_hold_ids[i] collate "C" >= 'gen-' and p_hold_ids[i] collate "C" < retention.oldest_retained_hold_id);
  if found then
    raise unique_violation using message = 'a hold of the batch is closed';
  end if;
  return placed_positions;
end
$$;
