-- Changes that this service made for a person, one row per change, written in its transaction.
create table audit_entries (
  -- Sorts by time.
  id               text collate "C" primary key,
  created_at       timestamptz not null,
  actor_id         text not null,
  actor_label      text not null,
  actor_ip_address text not null,
  actor_role       text not null,
  organization_id  text collate "C",
  action           text not null,
  target           text not null,
  details          jsonb not null
);

create index audit_entries_by_organization on audit_entries (organization_id, id desc);
