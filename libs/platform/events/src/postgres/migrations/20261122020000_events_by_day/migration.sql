-- Events are partitioned by the day they were appended on, so that what every
-- group has passed goes a day at a time, by dropping a table.
--
-- Their positions are unique because they are taken under the lock on the
-- topic's row; the time is in the key because partitioning asks for it. Whoever
-- appends writes the topic in the same statement, so no foreign key checks it.
lock table topics, events in access exclusive mode;

alter table events rename to events_before;
alter table events_before rename constraint events_pkey to events_before_pkey;

create table events (like events_before including defaults) partition by range (appended_at);
alter table events add primary key (topic, position, appended_at);

-- Events of times whose partition was not made yet.
create table events_default partition of events default;

-- What there is becomes the first partition, in place; it ends tonight.
do $$
declare
  last_day date := (now() at time zone 'UTC')::date + 1;
  cutoff timestamptz := last_day::timestamp at time zone 'UTC';
  name text := 'events_until_' || to_char(last_day, 'YYYYMMDD');
begin
  if not exists (select from events_before) then
    drop table events_before;
    return;
  end if;

  with others as (delete from events_before where appended_at >= cutoff returning *)
  insert into events select * from others;

  alter table events_before drop constraint events_before_pkey;
  alter table events_before drop constraint events_topic_fkey;
  execute format('alter table events_before rename to %I', name);
  execute format('alter table events attach partition %I for values from (minvalue) to (%L)', name, cutoff);
end
$$;
