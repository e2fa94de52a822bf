-- The least id with this prefix that is made at or after a time: a ULID's ten characters of time.
create or replace function least_id_at(p_prefix text, p_unix_ms bigint) returns text
language sql immutable
as $$
  select p_prefix || '-' || string_agg(
    substr('0123456789ABCDEFGHJKMNPQRSTVWXYZ', 1 + ((p_unix_ms >> (5 * digit)) & 31)::integer, 1), '' order by digit desc
  )
  from generate_series(0, 9) as digit
$$;
