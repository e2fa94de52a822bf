-- The tables of months are named by the day on which they end, as all tables by
-- time are, so that the same code makes and drops them.
do $$
declare
  part record;
begin
  for part in
    select child.relname as name, to_date(right(child.relname, 7), 'YYYY_MM') as month
    from pg_inherits
    join pg_class child on child.oid = inhrelid
    where inhparent = 'generations'::regclass and child.relname ~ '^generations_\d{4}_\d{2}$'
  loop
    execute format(
      'alter table %I rename to %I',
      part.name, 'generations_until_' || to_char(part.month + interval '1 month', 'YYYYMMDD')
    );
  end loop;
end
$$;

alter table generations_other rename to generations_default;

-- Processes of the version before call it until they are gone; this version makes the tables for them.
create or replace function create_generation_month(p_month date) returns boolean
language sql
as $$
  select false
$$;
