-- Postings are kept for ever, so they are partitioned by time: what is old is
-- in tables that nobody writes to any more.
--
-- The partition key is the reference. A hold's id begins with the time of its
-- making, so ids sort by time, and the primary key still says for all partitions
-- together that nothing is posted twice, which a key with the time of posting in
-- it could not say.

-- The least id with this prefix that is made at or after a time: a ULID's ten characters of time.
create function least_id_at(p_prefix text, p_unix_ms bigint) returns text
language sql immutable
as $$
  select p_prefix || '-' || string_agg(
    substr('0123456789ABCDEFGHJKMNPQRSTVWXYZ', 1 + ((p_unix_ms >> (5 * digit)) & 31)::integer, 1), '' order by digit desc
  )
  from generate_series(0, 9) as digit
$$;

-- In the order in which the money functions lock.
lock table accounts, postings in access exclusive mode;

alter table postings rename to postings_before;
alter table postings_before rename constraint postings_pkey to postings_before_pkey;

create table postings (like postings_before including defaults including constraints) partition by range (reference);
alter table postings add primary key (reference, kind);

-- An organization's statement, in order of time.
create index postings_by_organization on postings (organization_id, posted_unix_ms, reference, kind);

-- References of any other form, and those that come before their partition was made.
create table postings_default partition of postings default;
create table postings_of_credits partition of postings for values from ('crd-') to ('crd.');

-- What there is becomes the first partition, in place; it ends tonight.
do $$
declare
  last_day date := (now() at time zone 'UTC')::date + 1;
  cutoff text := least_id_at('gen', (extract(epoch from last_day::timestamp at time zone 'UTC') * 1000)::bigint);
  name text := 'postings_until_' || to_char(last_day, 'YYYYMMDD');
begin
  if not exists (select from postings_before) then
    drop table postings_before;
    return;
  end if;

  with others as (
    delete from postings_before where reference < 'gen-' or reference >= cutoff returning *
  )
  insert into postings select * from others;

  execute format('alter table postings_before rename to %I', name);
  execute format('alter table postings attach partition %I for values from (%L) to (%L)', name, 'gen-', cutoff);
end
$$;
