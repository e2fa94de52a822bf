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

-- The catalogue with GATEWAY_CATALOGUE=database. The highest version is in effect.
create table catalogue_versions (
  version            bigint primary key,
  -- A models file in YAML. Keys of providers are names of stored secrets.
  text               text not null,
  comment            text not null,
  published_unix_ms  bigint not null,
  published_by       text not null,
  -- The version whose text it repeats, if it is a rollback.
  restored_version   bigint references catalogue_versions
);

-- At most one row: the draft of the next version.
create table catalogue_draft (
  only_row       boolean primary key default true check (only_row),
  revision       bigint not null,
  text           text not null,
  saved_unix_ms  bigint not null,
  saved_by       text not null
);

-- API keys of providers.
create table provider_secrets (
  name             text collate "C" primary key,
  -- With GATEWAY_SECRETS_KEY.
  encrypted        text not null,
  -- The last four characters; empty for short secrets.
  hint             text not null,
  changed_unix_ms  bigint not null,
  changed_by       text not null,
  -- Where it may be sent, as scheme, host and port: set by its first use. Null: not used since it was stored.
  origins          text[]
);

-- One row, locked by every change of the catalogue.
create table catalogue_state (
  only_row        boolean primary key default true check (only_row),
  -- Increases with each published version and each change of a secret. Routers poll it.
  sequence        bigint not null,
  -- The revision of the last saved draft.
  draft_revision  bigint not null
);
insert into catalogue_state (sequence, draft_revision) values (0, 0);

-- Organizations that have, or had, the content log on.
create table content_logs (
  organization_id  text collate "C" primary key,
  enabled          boolean not null,
  retention_days   integer not null,
  -- When it was turned on, or everything was erased. Content of generations that were admitted before is not stored.
  since_unix_ms    bigint not null,
  -- Encrypts the organization's content. Encrypted with GATEWAY_SECRETS_KEY, and replaced when everything is erased.
  encrypted_key    text not null,
  key_number       integer not null default 1
);

-- Prompts and responses.
create table generation_contents (
  organization_id  text collate "C" not null,
  generation_id    text collate "C" not null,
  created_unix_ms  bigint not null,
  -- The key of the organization that encrypts it. A row with an earlier one cannot be read, and is deleted.
  key_number       integer not null,
  encrypted        text not null,
  primary key (organization_id, generation_id)
);
create index generation_contents_by_age on generation_contents (organization_id, key_number, created_unix_ms);
-- Encrypted text cannot be compressed.
alter table generation_contents alter column encrypted set storage external;

-- What each router reported last.
create table catalogue_routers (
  router            text primary key,
  version           bigint not null,
  loaded_unix_ms    bigint not null,
  reported_unix_ms  bigint not null,
  rejected_version  bigint
);
