-- The tables of the schema inference_router in version 0.1.0; what changed since
-- is in migrations/.

-- Targets that operators drain: they get no new requests. A row per target, deleted when the drain ends.
create table drained_targets (
  -- "provider/model of the provider", as in metrics.
  target         text collate "C" primary key,
  since_unix_ms  bigint not null,
  drained_by     text not null,
  reason         text not null
);
