-- The periods of budgets around a day, one row each. An exceeded budget of a lower rank is reported first: waiting for
-- the end of a short period does not help while a longer budget is used up. A rolling window has no days: its hours are
-- in budget_hours. A plain query, which is planned as a part of its caller.
create or replace function budget_periods(p_day date)
returns table (period text, rank integer, first_day date, last_day date)
language sql immutable
as $$
  values
    ('month', 1, date_trunc('month', p_day)::date, (date_trunc('month', p_day) + interval '1 month - 1 day')::date),
    ('week', 2, date_trunc('week', p_day)::date, (date_trunc('week', p_day) + interval '6 days')::date),
    ('total', 1, 'infinity'::date, 'infinity'::date),
    ('window', 2, null, null),
    ('day', 3, p_day, p_day)
$$;
