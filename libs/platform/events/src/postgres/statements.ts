/** Told the name of a topic when events of it are committed. */
export const NOTIFY_CHANNEL = 'event_log';

/**
 * $1 topic, $2 keys, $3 all payloads one after the other, $4 where each begins (from 1), $5 how long it is,
 * $6 headers, $7 now, $8 groups that are told otherwise. One round trip: number, store, and announce to whoever
 * else reads the topic. Answers the position before the first. To announce is to wake every listener in the
 * database, of whatever topic, at each commit.
 */
export const APPEND = `
  with numbered as (
    insert into event_log.topics as t (topic, last_position) values ($1, cardinality($2::text[]))
    on conflict (topic) do update set last_position = t.last_position + excluded.last_position
    returning last_position - cardinality($2::text[]) as base
  ), stored as (
    insert into event_log.events (topic, position, key, payload, headers, appended_at)
    select $1, base + ordinal, key, substring($3::bytea from begins for bytes), headers, $7
    from numbered, unnest($2::text[], $4::integer[], $5::integer[], $6::jsonb[])
      with ordinality as e (key, begins, bytes, headers, ordinal)
  )
  select base, (
    select pg_notify('${NOTIFY_CHANNEL}', $1) from event_log.consumer_groups
    where topic = $1 and group_name <> all($8::text[])
    limit 1
  ) from numbered`;

/** $1 topic, $2 group. No row when there is nothing left to read. */
export const IS_BEHIND = `
  select from event_log.topics t
  where t.topic = $1
    and t.last_position > coalesce(
      (select position from event_log.consumer_groups where topic = $1 and group_name = $2), 0)`;

/** $1 topic, $2 group. Positions have no gaps but of what was rolled back, so their difference is the number. */
export const COUNT_WAITING = `
  select t.last_position - coalesce(
    (select position from event_log.consumer_groups where topic = $1 and group_name = $2), 0) as events
  from event_log.topics t where t.topic = $1`;

/** $1 topic, $2 group. */
export const REGISTER_GROUP = `
  insert into event_log.consumer_groups (topic, group_name, position) values ($1, $2, 0)
  on conflict do nothing`;

/** $1 topic, $2 group. Held by the session, so it ends with the connection. */
export const LOCK_GROUP = `
  select pg_try_advisory_lock(hashtextextended('event_log/' || $1 || '/' || $2, 0)) as locked`;

/**
 * $1 topic, $2 group, $3 most events, $4 most bytes. The events after the
 * group's position; always at least one, however large. Each row also tells how
 * far the topic has come, and the first has the payloads of all, one after the
 * other: reading each out of digits of its own takes five times as long.
 */
export const FETCH = `
  with next as (
    select e.position, e.key, e.payload, e.headers,
           sum(octet_length(e.payload)) over (order by e.position) - octet_length(e.payload) as bytes_before
    from event_log.events e
    where e.topic = $1
      and e.position > (select position from event_log.consumer_groups where topic = $1 and group_name = $2)
    order by e.position
    limit $3
  ), taken as (
    select position, key, payload, headers from next where bytes_before < $4
  )
  select position, key, octet_length(payload) as bytes, headers,
         (select last_position from event_log.topics where topic = $1) as last_position,
         case position when (select min(position) from taken)
           then (select string_agg(payload, '' order by position) from taken) end as payloads
  from taken order by position`;

/** $1 topic, $2 group, $3 position. */
export const COMMIT_POSITION = `
  update event_log.consumer_groups set position = greatest(position, $3)
  where topic = $1 and group_name = $2`;

/** $1 topic, $2 group, $3 positions, $4 reasons, $5 now, $6 attempts. Doing it again changes nothing. */
export const BURY = `
  insert into event_log.dead_letters (
    topic, group_name, position, key, payload, headers, reason, dead_at, failed_at, attempts
  )
  select e.topic, $2, e.position, e.key, e.payload, e.headers, d.reason, $5, $5, $6
  from unnest($3::bigint[], $4::text[]) as d (position, reason)
  join event_log.events e on e.topic = $1 and e.position = d.position
  on conflict do nothing`;

/**
 * A row when a day's partition has an event that some group has yet to pass, or
 * one of a topic that nobody reads. One look at the key's end for each topic.
 */
export const HOLDS_UNPASSED = (partition: string): string => `
  select from event_log.topics t
  where (select max(e.position) from event_log."${partition}" e where e.topic = t.topic)
    > coalesce((select min(g.position) from event_log.consumer_groups g where g.topic = t.topic), 0)
  limit 1`;

/**
 * $1 appended before, $2 most rows. The same for events that came before their
 * day's partition was made; as many are looked at as may go.
 */
export const TRIM_DEFAULT = `
  delete from event_log.events_default e
  using (select topic, min(position) as passed from event_log.consumer_groups group by topic) g
  cross join lateral (
    select d.position, d.appended_at from event_log.events_default d
    where d.topic = g.topic and d.position <= g.passed
    order by d.position
    limit $2
  ) oldest
  where e.topic = g.topic and e.position = oldest.position and oldest.appended_at < $1`;
