-- The budget accounts that a hold counts against: without a project, those of its organization and key. A plain query,
-- which is planned as a part of its caller.
create or replace function budget_accounts_of(p_key_id text, p_project_id text, p_day date)
returns table (owner_id text, day date)
language sql immutable
as $$
  select *
  from (values
    ('', p_day), (p_key_id, p_day), (p_key_id, 'infinity'::date), (p_project_id, p_day), (p_project_id, 'infinity'::date)
  ) as account (owner_id, day)
  where account.owner_id is not null
$$;
