-- The baseline of the schema inference_router, version 0.1.0. Later changes are migrations.

-- Targets drained by an operator: they get no new requests. The row is deleted when the drain ends.
create table drained_targets (
  -- "provider/provider model", as in metrics.
  target         text collate "C" primary key,
  since_unix_ms  bigint not null,
  drained_by     text not null,
  reason         text not null
);
