-- The tables of the schema event_log in version 0.1.0; later changes are in
-- migrations/.

-- An append-only log per topic. Positions ascend without gaps: they are assigned
-- under the lock on the topic's row, which is held until the append commits, so
-- a reader that sees a position sees every lower one.
create table topics (
  topic         text primary key,
  last_position bigint not null check (last_position >= 0)
);

-- Partitioned by the day of the append, so that events that every group has
-- passed are deleted a day at a time, by dropping a table. The lock on the topic's
-- row makes positions unique; the time is in the key because partitioning
-- requires it. An append writes the topic in the same statement, so no foreign
-- key checks it.
create table events (
  topic       text        not null,
  position    bigint      not null,
  key         text        not null,
  payload     bytea       not null,
  headers     jsonb       not null default '{}',
  appended_at timestamptz not null,
  primary key (topic, position, appended_at)
) partition by range (appended_at);

-- Events of days whose partition does not exist yet.
create table events_default partition of events default;

-- The position of each group: it has handled, or dead-lettered, every event up to
-- and including this one.
create table consumer_groups (
  topic      text   not null,
  group_name text   not null,
  position   bigint not null check (position >= 0),
  primary key (topic, group_name)
);

-- The same for a group that reads its topic from Kafka: the next offset of each
-- partition whose effects are not stored here. Every batch updates its row.
create table consumer_offsets (
  topic       text    not null,
  group_name  text    not null,
  partition   integer not null check (partition >= 0),
  next_offset bigint  not null check (next_offset >= 0),
  primary key (topic, group_name, partition)
) with (fillfactor = 50, autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 1000);

-- A dead letter waits for an operator, is delivered again at an operator's
-- request, or was discarded by an operator.
create table dead_letters (
  topic            text        not null,
  group_name       text        not null,
  position         bigint      not null,
  key              text        not null,
  payload          bytea       not null,
  headers          jsonb       not null,
  reason           text        not null,
  -- When it first became a dead letter.
  dead_lettered_at timestamptz not null,
  state            text        not null default 'waiting',
  -- Failed deliveries of the event, and the time of the last one.
  attempts         integer     not null default 1,
  failed_at        timestamptz not null,
  discarded_at     timestamptz,
  discarded_reason text,
  primary key (topic, group_name, position),
  constraint dead_letters_are_consistent check (
    case state
      when 'waiting' then discarded_at is null and discarded_reason is null
      when 'redelivering' then discarded_at is null and discarded_reason is null
      when 'discarded' then discarded_at is not null and discarded_reason is not null
      else false
    end
  )
);

-- Dead letters are listed, counted and redelivered by state and group, in order of position.
create index dead_letters_by_state on dead_letters (topic, group_name, state, position);
