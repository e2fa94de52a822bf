-- The budget accounts that a hold counts against. A plain query, which is planned as a part of its caller.
create or replace function budget_accounts_of(p_key_id text, p_day date) returns table (owner_id text, day date)
language sql immutable
as $$
  select * from (values ('', p_day), (p_key_id, p_day), (p_key_id, 'infinity'::date)) as account (owner_id, day)
$$;
