-- An append-only log per topic. Positions ascend without gaps: they are taken
-- under the lock on the topic's row, which is held until the append commits, so
-- whoever sees a position sees every lower one.
create table topics (
  topic         text primary key,
  last_position bigint not null check (last_position >= 0)
);

create table events (
  topic       text        not null references topics,
  position    bigint      not null,
  key         text        not null,
  payload     bytea       not null,
  headers     jsonb       not null default '{}',
  appended_at timestamptz not null,
  primary key (topic, position)
);

-- How far each group has come: it has handled, or dead-lettered, every event
-- up to and with this position.
create table consumer_groups (
  topic      text   not null,
  group_name text   not null,
  position   bigint not null check (position >= 0),
  primary key (topic, group_name)
);

create table dead_letters (
  topic      text        not null,
  group_name text        not null,
  position   bigint      not null,
  key        text        not null,
  payload    bytea       not null,
  headers    jsonb       not null,
  reason     text        not null,
  dead_at    timestamptz not null,
  primary key (topic, group_name, position)
);
