-- What an organization (with an empty owner), one of its keys or one of its projects has spent and holds, and the part
-- that it holds: on a day, in its month until then, and in total. An organization has no row for its total. A plain
-- query, which is planned as a part of its caller.
create or replace function budget_use(p_organization_id text, p_owner_id text, p_day date)
returns table (
  day_used bigint, day_held bigint, month_used bigint, month_held bigint, total_used bigint, total_held bigint
)
language sql stable
as $$
  select
    coalesce(sum(spent_nano_usd + held_nano_usd) filter (where day = p_day), 0)::bigint,
    coalesce(sum(held_nano_usd) filter (where day = p_day), 0)::bigint,
    coalesce(sum(spent_nano_usd + held_nano_usd) filter (where day <= p_day), 0)::bigint,
    coalesce(sum(held_nano_usd) filter (where day <= p_day), 0)::bigint,
    coalesce(sum(spent_nano_usd + held_nano_usd) filter (where day = 'infinity'), 0)::bigint,
    coalesce(sum(held_nano_usd) filter (where day = 'infinity'), 0)::bigint
  from budget_accounts
  where organization_id = p_organization_id collate "C"
    and owner_id = p_owner_id collate "C"
    and day >= date_trunc('month', p_day)::date
$$;
