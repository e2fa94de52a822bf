-- The time by which deadlines and leases start and end. The database's clock, so
-- that the clocks of the processes do not matter. Not now(), the start of the
-- transaction: a function reads the time after it has waited for its locks.
create or replace function now_unix_ms() returns bigint
language sql
as $$
  select floor(extract(epoch from clock_timestamp()) * 1000)::bigint
$$;
