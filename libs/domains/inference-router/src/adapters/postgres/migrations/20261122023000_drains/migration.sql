-- Targets that operators keep new requests from. A row per target; deleted when requests may go on.
create table drained_targets (
  -- "provider/model of the provider", as in metrics.
  target         text collate "C" primary key,
  since_unix_ms  bigint not null,
  drained_by     text not null,
  reason         text not null
);
