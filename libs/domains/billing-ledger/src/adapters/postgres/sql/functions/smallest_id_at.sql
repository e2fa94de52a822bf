-- The smallest id with this prefix created at or after a time: the ten time characters of a ULID.
create or replace function smallest_id_at(p_prefix text, p_unix_ms bigint) returns text
language sql immutable
as $$
  select p_prefix || '-' || string_agg(
    substr('0123456789ABCDEFGHJKMNPQRSTVWXYZ', 1 + ((p_unix_ms >> (5 * digit)) & 31)::integer, 1), '' order by digit desc
  )
  from generate_series(0, 9) as digit
$$;
