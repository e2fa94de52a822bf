-- Decides each hold individually in the given order: a refused hold reserves
-- nothing, so a smaller one after it may still be accepted. Hold ids within a call
-- are distinct. A hold that exists returns 'held' again while it is open, and
-- 'closed' once it was settled, voided, abandoned or deleted with its partition.
-- To another organization it returns 'foreign'. Its lifetime starts with this call,
-- and it counts against the budgets of the current UTC day, of its month, and of all
-- time, of its key, project and organization, and against the budget of its run. The first hold
-- of a run fixes the run's budget; before that, a hold without one returns
-- 'unknown_run'. A refusal returns the part of the balance, or of the exceeded budget,
-- that open holds reserve.
create or replace function hold_credit(
  p_hold_ids text[],
  p_organization_ids text[],
  p_key_ids text[],
  p_amounts bigint[],
  p_prices text[],
  p_organization_day_budgets bigint[],
  p_organization_month_budgets bigint[],
  p_organization_total_budgets bigint[],
  p_key_day_budgets bigint[],
  p_key_month_budgets bigint[],
  p_key_total_budgets bigint[],
  p_created_unix_ms bigint[],
  p_lifetimes_ms bigint[],
  p_idempotency_scopes text[],
  p_run_ids text[],
  p_run_budgets bigint[],
  p_project_ids text[],
  p_project_day_budgets bigint[],
  p_project_month_budgets bigint[],
  p_project_total_budgets bigint[]
) returns table (
  outcome text, available_nano_usd bigint, budget_scope text, budget_period text,
  budget_nano_usd bigint, used_nano_usd bigint, held_nano_usd bigint
)
language plpgsql
set plan_cache_mode = force_generic_plan set enable_seqscan = off set enable_hashjoin = off set enable_mergejoin = off
as $$
#variable_conflict use_column
declare
  item record;
  exceeded record;
  size integer := cardinality(p_hold_ids);
  accepted boolean[];
  accepted_ids text[] := '{}';
  held_count integer;
  is_over_budget boolean;
  has_month_budgets boolean :=
    cardinality(
      array_remove(p_organization_month_budgets || p_key_month_budgets || p_project_month_budgets, null)
    ) > 0;
  now_ms bigint := now_unix_ms();
  today date := (to_timestamp(now_ms / 1000.0) at time zone 'UTC')::date;
  first_of_month date := date_trunc('month', today)::date;
  -- Amounts held so far in this batch, indexed by the position of the first item
  -- with the same organization, key, project or run.
  taken_by_organization bigint[];
  taken_by_key bigint[];
  taken_by_project bigint[];
  taken_by_run bigint[];
  -- Budgets that holds of this batch have fixed, by the position of the first item with the same run.
  fixed_run_budgets bigint[];
  run_budget bigint;
  amount_left bigint;
begin
  -- Fast path: in nearly every batch all ids are new, and each account and budget covers the sum of its holds.
  -- So this block writes first and checks afterwards. If a check fails, the block is rolled back.
  begin
    with named as materialized (
      select
        hold_id,
        p_organization_ids[i] as organization_id,
        p_key_ids[i] as key_id,
        p_amounts[i] as amount,
        p_prices[i] as prices,
        p_organization_day_budgets[i] as organization_day_budget,
        p_organization_total_budgets[i] as organization_total_budget,
        p_key_day_budgets[i] as key_day_budget,
        p_key_total_budgets[i] as key_total_budget,
        p_created_unix_ms[i] as created_unix_ms,
        p_lifetimes_ms[i] as lifetime_ms,
        p_idempotency_scopes[i] as idempotency_scope,
        p_run_ids[i] as run_id,
        p_run_budgets[i] as run_budget,
        p_project_ids[i] as project_id,
        p_project_day_budgets[i] as project_day_budget,
        p_project_total_budgets[i] as project_total_budget,
        i as position
      from unnest(p_hold_ids) with ordinality as named (hold_id, i)
    ),
    batch as materialized (
      select
        organization_id collate "C" as organization_id, sum(amount)::bigint as amount,
        min(organization_total_budget) as total_budget
      from named
      group by 1
      order by 1
    ),
    moved_money as (
      update accounts account
      set
        available_nano_usd = account.available_nano_usd - batch.amount,
        held_nano_usd = account.held_nano_usd + batch.amount
      from batch
      where account.organization_id = batch.organization_id and account.available_nano_usd >= batch.amount
      returning account.charged_nano_usd + account.held_nano_usd > batch.total_budget as is_over
    ),
    -- Empty unless every account, locked in the common order, has enough.
    taken as materialized (
      select * from named
      where (select count(*) from moved_money) = (select count(*) from batch)
    ),
    new_holds as (
      insert into open_holds (
        hold_id, organization_id, key_id, amount_nano_usd, prices,
        day, created_unix_ms, deadline_unix_ms, idempotency_scope, run_id, project_id
      )
      select
        hold_id, organization_id, key_id, amount, prices,
        today, created_unix_ms, now_ms + lifetime_ms, idempotency_scope, run_id, project_id
      from taken
    ),
    new_postings as (
      insert into postings (reference, kind, organization_id, posted_unix_ms, credit_nano_usd, held_nano_usd)
      select hold_id, 'hold', organization_id, now_ms, -amount, amount
      from taken
    ),
    -- Sums per key first: a batch often has many holds of a key.
    new_spend as (
      insert into budget_accounts as total (organization_id, owner_id, day, budget_nano_usd, held_nano_usd)
      select of_key.organization_id, account.owner_id, account.day, min(account.budget), sum(of_key.amount)::bigint
      from (
        select
          organization_id, key_id, project_id, sum(amount)::bigint as amount,
          min(organization_day_budget) as organization_day_budget,
          min(key_day_budget) as key_day_budget, min(key_total_budget) as key_total_budget,
          min(project_day_budget) as project_day_budget, min(project_total_budget) as project_total_budget
        from taken
        group by organization_id, key_id, project_id
      ) of_key
      cross join lateral (values
        ('', today, organization_day_budget),
        (key_id, today, key_day_budget),
        (key_id, 'infinity'::date, key_total_budget),
        (project_id, today, project_day_budget),
        (project_id, 'infinity'::date, project_total_budget)
      ) as account (owner_id, day, budget)
      where account.owner_id is not null
      group by of_key.organization_id, account.owner_id, account.day
      on conflict (organization_id, owner_id, day) do update set
        budget_nano_usd = excluded.budget_nano_usd, held_nano_usd = total.held_nano_usd + excluded.held_nano_usd
      returning spent_nano_usd + held_nano_usd > budget_nano_usd as is_over
    ),
    new_runs as (
      insert into runs as run (
        organization_id, run_id, budget_nano_usd, held_nano_usd, created_unix_ms, last_held_unix_ms
      )
      select organization_id, run_id, (array_agg(run_budget order by position))[1], sum(amount)::bigint, now_ms, now_ms
      from taken
      where run_id is not null
      group by organization_id, run_id
      on conflict (organization_id, run_id) do update set
        held_nano_usd = run.held_nano_usd + excluded.held_nano_usd, last_held_unix_ms = excluded.last_held_unix_ms
      returning coalesce(spent_nano_usd + held_nano_usd > budget_nano_usd, true) as is_over
    )
    select
      (select count(*) from taken),
      exists (select from moved_money where is_over)
        or exists (select from new_spend where is_over)
        or exists (select from new_runs where is_over)
    into held_count, is_over_budget;

    -- In a statement of its own, which sees the days of other keys and settlements that were committed while this
    -- batch waited for its accounts.
    if held_count = size and not is_over_budget and has_month_budgets then
      select exists (
        select from (
          select wanted.organization_id, account.owner_id, min(account.budget) as budget
          from unnest(
              p_organization_ids, p_key_ids, p_project_ids,
              p_organization_month_budgets, p_key_month_budgets, p_project_month_budgets
            ) as wanted (organization_id, key_id, project_id, organization_budget, key_budget, project_budget)
          cross join lateral (values
            ('', organization_budget), (key_id, key_budget), (project_id, project_budget)
          ) as account (owner_id, budget)
          where account.budget is not null
          group by wanted.organization_id, account.owner_id
        ) month
        where month.budget < (
          select sum(total.spent_nano_usd + total.held_nano_usd)
          from budget_accounts total
          where total.organization_id = month.organization_id collate "C"
            and total.owner_id = month.owner_id collate "C"
            and total.day between first_of_month and today
        )
      ) into is_over_budget;
    end if;

    if held_count = size and not is_over_budget then
      -- Checked after the insert, so that a concurrently committed closing is visible.
      perform
      from unnest(p_hold_ids) as entered (hold_id)
      cross join closed_hold_retention retention
      left join closed_holds closed on closed.hold_id = entered.hold_id collate "C"
      where closed.hold_id is not null
        or (entered.hold_id collate "C" >= 'gen-' and entered.hold_id collate "C" < retention.oldest_retained_hold_id);
      if not found then
        return query
          select 'held', null::bigint, null::text, null::text, null::bigint, null::bigint, null::bigint
          from generate_series(1, size);
        return;
      end if;
    end if;
    raise exception using errcode = 'GW002';
  exception
    -- The constraint of an account refuses a negative balance.
    when sqlstate 'GW002' or unique_violation or check_violation then
      null;
  end;

  -- Slow path: each hold in order.
  perform lock_accounts(p_organization_ids);
  now_ms := now_unix_ms();
  today := (to_timestamp(now_ms / 1000.0) at time zone 'UTC')::date;
  first_of_month := date_trunc('month', today)::date;
  accepted := array_fill(false, array[size]);
  taken_by_organization := array_fill(0::bigint, array[size]);
  taken_by_key := taken_by_organization;
  taken_by_project := taken_by_organization;
  taken_by_run := taken_by_organization;
  fixed_run_budgets := array_fill(null::bigint, array[size]);

  for item in
    select
      wanted.position::integer as position, wanted.hold_id, wanted.organization_id, wanted.amount,
      wanted.organization_day_budget, wanted.organization_month_budget, wanted.organization_total_budget,
      wanted.key_day_budget, wanted.key_month_budget, wanted.key_total_budget,
      wanted.run_id, wanted.run_budget,
      wanted.project_id, wanted.project_day_budget, wanted.project_month_budget, wanted.project_total_budget,
      run.budget_nano_usd as known_run_budget,
      coalesce(run.spent_nano_usd + run.held_nano_usd, 0) as run_used,
      coalesce(run.held_nano_usd, 0) as run_held,
      account.available_nano_usd as available, account.held_nano_usd as held,
      account.charged_nano_usd + account.held_nano_usd as organization_total_used,
      of_organization.day_used as organization_day_used, of_organization.day_held as organization_day_held,
      of_organization.month_used as organization_month_used, of_organization.month_held as organization_month_held,
      of_key.day_used as key_day_used, of_key.day_held as key_day_held,
      of_key.month_used as key_month_used, of_key.month_held as key_month_held,
      of_key.total_used as key_total_used, of_key.total_held as key_total_held,
      of_project.day_used as project_day_used, of_project.day_held as project_day_held,
      of_project.month_used as project_month_used, of_project.month_held as project_month_held,
      of_project.total_used as project_total_used, of_project.total_held as project_total_held,
      coalesce(open.organization_id, closed.organization_id) as known_organization_id,
      open.hold_id is null as is_not_open,
      wanted.hold_id collate "C" >= 'gen-'
        and wanted.hold_id collate "C" < retention.oldest_retained_hold_id as is_expired,
      (min(wanted.position) over (partition by wanted.organization_id))::integer as organization_slot,
      (min(wanted.position) over (partition by wanted.organization_id, wanted.key_id))::integer as key_slot,
      (min(wanted.position) over (partition by wanted.organization_id, wanted.project_id))::integer as project_slot,
      (min(wanted.position) over (partition by wanted.organization_id, wanted.run_id))::integer as run_slot
    from unnest(
        p_hold_ids, p_organization_ids, p_key_ids, p_amounts,
        p_organization_day_budgets, p_organization_month_budgets, p_organization_total_budgets,
        p_key_day_budgets, p_key_month_budgets, p_key_total_budgets, p_run_ids, p_run_budgets,
        p_project_ids, p_project_day_budgets, p_project_month_budgets, p_project_total_budgets
      ) with ordinality as wanted (
        hold_id, organization_id, key_id, amount,
        organization_day_budget, organization_month_budget, organization_total_budget,
        key_day_budget, key_month_budget, key_total_budget, run_id, run_budget,
        project_id, project_day_budget, project_month_budget, project_total_budget, position
      )
    cross join closed_hold_retention retention
    join accounts account on account.organization_id = wanted.organization_id collate "C"
    cross join lateral budget_use(wanted.organization_id, '', today) of_organization
    cross join lateral budget_use(wanted.organization_id, wanted.key_id, today) of_key
    cross join lateral budget_use(wanted.organization_id, wanted.project_id, today) of_project
    left join runs run
      on run.organization_id = wanted.organization_id collate "C" and run.run_id = wanted.run_id collate "C"
    left join open_holds open on open.hold_id = wanted.hold_id collate "C"
    left join closed_holds closed on closed.hold_id = wanted.hold_id collate "C"
    order by wanted.position
  loop
    outcome := 'held';
    available_nano_usd := null;
    budget_scope := null;
    budget_period := null;
    budget_nano_usd := null;
    used_nano_usd := null;
    held_nano_usd := null;

    if item.known_organization_id <> item.organization_id then
      outcome := 'foreign';
      return next;
      continue;
    end if;

    if item.known_organization_id is not null or item.is_expired then
      if item.is_not_open then
        outcome := 'closed';
      end if;
      return next;
      continue;
    end if;

    if item.run_id is not null then
      run_budget := coalesce(item.known_run_budget, fixed_run_budgets[item.run_slot], item.run_budget);
      if run_budget is null then
        outcome := 'unknown_run';
        return next;
        continue;
      end if;
    end if;

    amount_left := item.available - taken_by_organization[item.organization_slot];
    if amount_left < item.amount then
      outcome := 'insufficient_credits';
      available_nano_usd := amount_left;
      held_nano_usd := item.held + taken_by_organization[item.organization_slot];
      return next;
      continue;
    end if;

    -- The day comes last: waiting for its end does not help while a longer budget is used up.
    select budget.* into exceeded
    from (values
      (1, 'run', 'total', case when item.run_id is not null then run_budget end,
        item.run_used, item.run_held, taken_by_run[item.run_slot]),
      (2, 'key', 'month', item.key_month_budget,
        item.key_month_used, item.key_month_held, taken_by_key[item.key_slot]),
      (3, 'key', 'total', item.key_total_budget,
        item.key_total_used, item.key_total_held, taken_by_key[item.key_slot]),
      (4, 'project', 'month', item.project_month_budget,
        item.project_month_used, item.project_month_held, taken_by_project[item.project_slot]),
      (5, 'project', 'total', item.project_total_budget,
        item.project_total_used, item.project_total_held, taken_by_project[item.project_slot]),
      (6, 'organization', 'month', item.organization_month_budget,
        item.organization_month_used, item.organization_month_held, taken_by_organization[item.organization_slot]),
      (7, 'organization', 'total', item.organization_total_budget,
        item.organization_total_used, item.held, taken_by_organization[item.organization_slot]),
      (8, 'key', 'day', item.key_day_budget,
        item.key_day_used, item.key_day_held, taken_by_key[item.key_slot]),
      (9, 'project', 'day', item.project_day_budget,
        item.project_day_used, item.project_day_held, taken_by_project[item.project_slot]),
      (10, 'organization', 'day', item.organization_day_budget,
        item.organization_day_used, item.organization_day_held, taken_by_organization[item.organization_slot])
    ) as budget (rank, scope, period, amount, used, held, taken)
    where budget.amount - budget.used - budget.taken < item.amount
    order by budget.rank
    limit 1;
    if found then
      outcome := 'budget_exceeded';
      budget_scope := exceeded.scope;
      budget_period := exceeded.period;
      budget_nano_usd := exceeded.amount;
      used_nano_usd := exceeded.used + exceeded.taken;
      held_nano_usd := exceeded.held + exceeded.taken;
      return next;
      continue;
    end if;

    accepted[item.position] := true;
    accepted_ids := accepted_ids || item.hold_id;
    taken_by_organization[item.organization_slot] := taken_by_organization[item.organization_slot] + item.amount;
    taken_by_key[item.key_slot] := taken_by_key[item.key_slot] + item.amount;
    if item.project_id is not null then
      taken_by_project[item.project_slot] := taken_by_project[item.project_slot] + item.amount;
    end if;
    if item.run_id is not null then
      taken_by_run[item.run_slot] := taken_by_run[item.run_slot] + item.amount;
      fixed_run_budgets[item.run_slot] := run_budget;
      p_run_budgets[item.position] := run_budget;
    end if;
    return next;
  end loop;

  if cardinality(accepted_ids) = 0 then
    return;
  end if;

  with taken as materialized (
    select *
    from unnest(
        p_hold_ids, p_organization_ids, p_key_ids, p_amounts, p_prices,
        p_created_unix_ms, p_lifetimes_ms, p_idempotency_scopes, p_run_ids, p_run_budgets, p_project_ids, accepted
      ) with ordinality as wanted (
        hold_id, organization_id, key_id, amount, prices,
        created_unix_ms, lifetime_ms, idempotency_scope, run_id, run_budget, project_id, is_accepted, position
      )
    where wanted.is_accepted
  ),
  new_holds as (
    insert into open_holds (
      hold_id, organization_id, key_id, amount_nano_usd, prices,
      day, created_unix_ms, deadline_unix_ms, idempotency_scope, run_id, project_id
    )
    select
      hold_id, organization_id, key_id, amount, prices,
      today, created_unix_ms, now_ms + lifetime_ms, idempotency_scope, run_id, project_id
    from taken
  ),
  new_postings as (
    insert into postings (reference, kind, organization_id, posted_unix_ms, credit_nano_usd, held_nano_usd)
    select hold_id, 'hold', organization_id, now_ms, -amount, amount
    from taken
  ),
  new_spend as (
    insert into budget_accounts as total (organization_id, owner_id, day, held_nano_usd)
    select taken.organization_id, account.owner_id, account.day, sum(taken.amount)::bigint
    from taken
    cross join lateral budget_accounts_of(taken.key_id, taken.project_id, today) as account
    group by taken.organization_id, account.owner_id, account.day
    on conflict (organization_id, owner_id, day)
      do update set held_nano_usd = total.held_nano_usd + excluded.held_nano_usd
  ),
  new_runs as (
    insert into runs as run (
      organization_id, run_id, budget_nano_usd, held_nano_usd, created_unix_ms, last_held_unix_ms
    )
    -- Accepted holds carry the fixed budget, against which PostgreSQL checks also a row that it does not insert.
    select organization_id, run_id, min(run_budget), sum(amount)::bigint, now_ms, now_ms
    from taken
    where run_id is not null
    group by organization_id, run_id
    on conflict (organization_id, run_id) do update set
      held_nano_usd = run.held_nano_usd + excluded.held_nano_usd, last_held_unix_ms = excluded.last_held_unix_ms
  )
  update accounts account
  set
    available_nano_usd = account.available_nano_usd - batch.amount,
    held_nano_usd = account.held_nano_usd + batch.amount
  from (select organization_id, sum(amount)::bigint as amount from taken group by organization_id) batch
  where account.organization_id = batch.organization_id collate "C";

  perform assert_never_closed(accepted_ids);
end
$$;
