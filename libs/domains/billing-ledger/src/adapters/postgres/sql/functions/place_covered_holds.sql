-- Places the holds at the given positions of a batch, and returns their positions. Leaves out ids that were held before,
-- and all holds of an organization whose balance or budgets do not cover the sum of its holds. hold_credit, its only
-- caller, has locked the accounts.
create or replace function place_covered_holds(
  p_positions integer[],
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
  p_idempotency_scopes text[],
  p_now_unix_ms bigint
) returns integer[]
language plpgsql
set plan_cache_mode = force_generic_plan set enable_seqscan = off set enable_hashjoin = off set enable_mergejoin = off
as $$
declare
  today constant date := (to_timestamp(p_now_unix_ms / 1000.0) at time zone 'UTC')::date;
  over_budget text[] := '{}';
  placed_positions integer[];
begin
  if cardinality(array_remove(p_budgets, null)) > 0 then
    -- Sums per key first: a batch often has many holds of a key.
    with of_key as materialized (
      select
        p_organization_ids[i] as organization_id, p_key_ids[i] as key_id, p_project_ids[i] as project_id,
        p_run_ids[i] as run_id, p_budgets[i] as budgets, sum(p_amounts[i])::bigint as amount
      from unnest(p_positions) as i
      group by 1, 2, 3, 4, 5
    ),
    -- What the holds add to each owner, and its budgets.
    owners as (
      select
        organization_id, owner_id, sum(amount)::bigint as amount, array_agg(limited) filter (where is_budget) as budgets
      from (
        select organization_id, owner_id, amount, null::budget, false
        from of_key
        cross join lateral (values (''), (key_id), (project_id), (run_id)) as owner (owner_id)
        where owner_id is not null
        union all
        select of_key.organization_id, limited.owner_id, 0, limited, true
        from of_key
        cross join lateral unnest(of_key.budgets::budget[]) as limited
      ) as entry (organization_id, owner_id, amount, limited, is_budget)
      group by organization_id, owner_id
    )
    select coalesce(array_agg(owners.organization_id), '{}')
    into over_budget
    from owners
    cross join lateral first_exceeded_budget(owners.organization_id, owners.budgets, owners.amount, today)
    where owners.budgets is not null;
  end if;

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
      p_budgets[i] as budgets,
      p_created_unix_ms[i] as created_unix_ms,
      p_lifetimes_ms[i] as lifetime_ms,
      p_idempotency_scopes[i] as idempotency_scope
    from unnest(p_positions) as i
    cross join closed_hold_retention retention
    left join open_holds open on open.hold_id = p_hold_ids[i] collate "C"
    left join closed_holds closed on closed.hold_id = p_hold_ids[i] collate "C"
    where p_organization_ids[i] <> all (over_budget)
      and open.hold_id is null
      and closed.hold_id is null
      and not (p_hold_ids[i] collate "C" >= 'gen-' and p_hold_ids[i] collate "C" < retention.oldest_retained_hold_id)
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
      day, created_unix_ms, deadline_unix_ms, idempotency_scope, run_id, project_id
    )
    select
      hold_id, organization_id, key_id, amount, prices,
      today, created_unix_ms, p_now_unix_ms + lifetime_ms, idempotency_scope, run_id, project_id
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
      organization_id, run_id, coalesce((array_agg(budget.amount_nano_usd order by position))[1], 0),
      sum(amount)::bigint, p_now_unix_ms, p_now_unix_ms
    from placed
    join lateral unnest(placed.budgets::budget[]) as budget on budget.scope = 'run'
    where run_id is not null
    group by organization_id, run_id
    on conflict (organization_id, run_id) do update set
      held_nano_usd = run.held_nano_usd + excluded.held_nano_usd, last_held_unix_ms = excluded.last_held_unix_ms
  )
  select array_agg(position) into placed_positions from placed;

  if placed_positions is not null then
    perform assert_never_closed(array(select p_hold_ids[i] from unnest(placed_positions) as i));
  end if;
  return placed_positions;
end
$$;
