-- What counts against a budget in the period of a day, or in a window of hours up to an hour; the part that is held; and
-- the budget that its owner has fixed. The total of an organization is its account. A run has no periods, and its first
-- hold fixes its budget. A plain query, which is planned as a part of its caller.
create or replace function budget_use(
  p_organization_id text, p_scope text, p_owner_id text, p_period text, p_hours integer, p_counter text, p_day date,
  p_hour timestamp
) returns table (rank integer, last_day date, used bigint, held bigint, fixed bigint)
language sql stable
as $$
  select days.rank, days.last_day, use.used, use.held, use.fixed
  from budget_periods(p_day) as days
  cross join lateral (
    select coalesce(sum(spent + held), 0)::bigint, coalesce(sum(held), 0)::bigint, max(fixed)
    from (
      select spent_nano_usd, held_nano_usd, null::bigint
      from budget_accounts
      where p_scope <> 'run' and p_counter is null
        and organization_id = p_organization_id collate "C"
        and owner_id = p_owner_id collate "C"
        and day between days.first_day and days.last_day
      union all
      select spent_nano_usd, 0, null
      from budget_hours
      where p_counter is not null and organization_id = p_organization_id collate "C" and counter = p_counter collate "C"
        and hour >= case p_period
          when 'window' then p_hour - make_interval(hours => p_hours - 1)
          when 'total' then '-infinity'
          else days.first_day::timestamp
        end
        -- A window has later hours after the clock was set back.
        and hour < case when p_period in ('window', 'total') then 'infinity' else days.last_day + interval '1 day' end
      union all
      select 0, held_nano_usd, null
      from budget_hours
      where p_counter is not null and organization_id = p_organization_id collate "C" and counter = p_counter collate "C"
        and hour = 'infinity'
      union all
      select charged_nano_usd, held_nano_usd, null
      from accounts
      where p_scope = 'organization' and p_period = 'total' and p_counter is null
        and organization_id = p_organization_id collate "C"
      union all
      select spent_nano_usd, held_nano_usd, budget_nano_usd
      from runs
      where p_scope = 'run' and organization_id = p_organization_id collate "C" and run_id = p_owner_id collate "C"
    ) as account (spent, held, fixed)
  ) as use (used, held, fixed)
  where days.period = p_period
$$;
