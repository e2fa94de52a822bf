-- What becomes of a dead letter: it waits for a person, is delivered once more
-- because one asked for it, or was discarded by one.
alter table dead_letters
  add column state      text        not null default 'waiting',
  -- Deliveries of the event that failed.
  add column attempts   integer     not null default 1,
  -- The last of them; dead_at is the time of the first burial. Null: before this column.
  add column failed_at  timestamptz,
  add column discarded_at     timestamptz,
  add column discarded_reason text,
  add constraint dead_letters_are_whole check (
    case state
      when 'waiting' then discarded_at is null and discarded_reason is null
      when 'redelivering' then discarded_at is null and discarded_reason is null
      when 'discarded' then discarded_at is not null and discarded_reason is not null
      else false
    end
  );

-- What is listed, counted and redelivered: one state of one group, by position.
create index dead_letters_by_state on dead_letters (topic, group_name, state, position);
