-- The baseline of the schema inference_router, version 0.1.0. Later changes are migrations.

-- Targets drained by an operator: they get no new requests. The row is deleted when the drain ends.
create table drained_targets (
  -- "provider/provider model", as in metrics.
  name             text collate "C" primary key,
  since_unix_ms    bigint not null,
  switched_off_by  text not null,
  reason           text not null
);

-- Models disabled by an operator, in addition to those that the models file disables. The row is deleted when the model
-- is enabled again.
create table disabled_models (
  -- The model's ID.
  name             text collate "C" primary key,
  since_unix_ms    bigint not null,
  switched_off_by  text not null,
  reason           text not null
);
