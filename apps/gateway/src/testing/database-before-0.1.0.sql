-- The relevant part of a database that commit 77ce3bf (before 0.1.0) created: each
-- schema's migrations, and one table with a row.

create schema event_log;

create table event_log._prisma_migrations (
  id                  varchar(36) primary key not null,
  checksum            varchar(64) not null,
  finished_at         timestamptz,
  migration_name      varchar(255) not null,
  logs                text,
  rolled_back_at      timestamptz,
  started_at          timestamptz not null default now(),
  applied_steps_count integer not null default 0
);

insert into event_log._prisma_migrations (id, checksum, migration_name, finished_at, started_at, applied_steps_count) values
  ('00000000-0000-4000-8000-000000000001', '4f746437b9756a2364c995bb1e5d37b0cab6ffae33dc9c1a6915278902e47cd2', '20261120090000_event_log', '2026-11-24T12:00:00Z', '2026-11-24T12:00:00Z', 1),
  ('00000000-0000-4000-8000-000000000002', '26fb2fb675ce96c7f1a5c26e168a488e796fcbe38bd53fb6e05b62b3237aa75d', '20261122012000_dead_letter_states', '2026-11-24T12:00:00Z', '2026-11-24T12:00:00Z', 1),
  ('00000000-0000-4000-8000-000000000003', '0f1e4c82f3438c1184605dc31fae3de1eeb8a1301e06235ae685e0dacb05a542', '20261122020000_events_by_day', '2026-11-24T12:00:00Z', '2026-11-24T12:00:00Z', 1);

create table event_log.topics (
  topic text not null,
  last_position bigint not null,
  primary key (topic)
);

insert into event_log.topics values ('generation.finished', 7);

create schema auth;

create table auth._prisma_migrations (
  id                  varchar(36) primary key not null,
  checksum            varchar(64) not null,
  finished_at         timestamptz,
  migration_name      varchar(255) not null,
  logs                text,
  rolled_back_at      timestamptz,
  started_at          timestamptz not null default now(),
  applied_steps_count integer not null default 0
);

insert into auth._prisma_migrations (id, checksum, migration_name, finished_at, started_at, applied_steps_count) values
  ('00000000-0000-4000-8000-000000000001', 'a92b6cf35d45f949b9ac763cb2bd8b6aefeb19d92095ef2307759fc31ecb1534', '20261120090000_init', '2026-11-24T12:00:00Z', '2026-11-24T12:00:00Z', 1),
  ('00000000-0000-4000-8000-000000000002', 'f95b200e644cc42f91136350d4f0b4f54f43d363cdce145732875c778acbb65f', '20261122013500_versions', '2026-11-24T12:00:00Z', '2026-11-24T12:00:00Z', 1),
  ('00000000-0000-4000-8000-000000000003', '92d470eac17d05fc02a878958dbe479132ecfc1cb3dd98a5f333faecdab519b1', '20261122014500_memberships', '2026-11-24T12:00:00Z', '2026-11-24T12:00:00Z', 1),
  ('00000000-0000-4000-8000-000000000004', 'bdd03726bfff8630d21600c725e881deb62cc6538100d71e611ea9be225104de', '20261122020500_key_rotation', '2026-11-24T12:00:00Z', '2026-11-24T12:00:00Z', 1),
  ('00000000-0000-4000-8000-000000000005', 'be29790f791e82ed5f55caec8c576f8ae11d36702e8f3899d5d0747b41e09ec8', '20261122022000_credentials', '2026-11-24T12:00:00Z', '2026-11-24T12:00:00Z', 1),
  ('00000000-0000-4000-8000-000000000006', '20021f8770c4a4bea06b80847f00f947afa62643726bd4a6b0e0b5b9c770f2c5', '20261122043500_single_sign_on', '2026-11-24T12:00:00Z', '2026-11-24T12:00:00Z', 1),
  ('00000000-0000-4000-8000-000000000007', '6e769c83127ea663617c75b25ad07600d38d47a08ee17fee8d9ad6d44ce5fdbc', '20261122051500_session_keys', '2026-11-24T12:00:00Z', '2026-11-24T12:00:00Z', 1);

create table auth.organizations (
  id text not null,
  name text not null,
  suspended boolean not null,
  suspended_reason text,
  requests_per_minute integer,
  tokens_per_minute integer,
  daily_budget_nano_usd bigint,
  concurrency integer,
  max_output_tokens integer,
  multiple_completions boolean not null,
  created_at timestamp(3) with time zone not null,
  version integer not null default 1,
  primary key (id)
);

insert into auth.organizations values ('org-1', 'Acme', false, null, null, null, null, null, null, false, '2026-11-24T12:00:00Z', 1);

create schema billing_ledger;

create table billing_ledger._prisma_migrations (
  id                  varchar(36) primary key not null,
  checksum            varchar(64) not null,
  finished_at         timestamptz,
  migration_name      varchar(255) not null,
  logs                text,
  rolled_back_at      timestamptz,
  started_at          timestamptz not null default now(),
  applied_steps_count integer not null default 0
);

insert into billing_ledger._prisma_migrations (id, checksum, migration_name, finished_at, started_at, applied_steps_count) values
  ('00000000-0000-4000-8000-000000000001', '78b96182285532e6733aa6c3924d113927b7a37ffd82611a35a1c64a395533fe', '20261120090000_tables', '2026-11-24T12:00:00Z', '2026-11-24T12:00:00Z', 1),
  ('00000000-0000-4000-8000-000000000002', 'db81f7182a3941103108d5a7695883e12c822927568e10dc66faaf76d1ba127b', '20261120090100_money_functions', '2026-11-24T12:00:00Z', '2026-11-24T12:00:00Z', 1),
  ('00000000-0000-4000-8000-000000000003', '5f70e71c0d770e378cac8dcaf91b5d453188f612b2e3c237ac63f938f8b7e6e1', '20261120090200_settlement_functions', '2026-11-24T12:00:00Z', '2026-11-24T12:00:00Z', 1),
  ('00000000-0000-4000-8000-000000000004', 'bc97c57adf18831814e69c4186f8cfb2b51c017acddf4d82405c3b816f76af83', '20261120090300_idempotency_functions', '2026-11-24T12:00:00Z', '2026-11-24T12:00:00Z', 1),
  ('00000000-0000-4000-8000-000000000005', 'ef7e142cdce891c7bf0001ba9fb5375b2b41fd07676df5e0b73c77086b2dc710', '20261120090400_voids_before_holds', '2026-11-24T12:00:00Z', '2026-11-24T12:00:00Z', 1),
  ('00000000-0000-4000-8000-000000000006', 'df040e7170c9bc20c18334b44a4bdd4cd1dea377c60407b191817f4f709f9bd3', '20261121090000_release_claims', '2026-11-24T12:00:00Z', '2026-11-24T12:00:00Z', 1),
  ('00000000-0000-4000-8000-000000000007', '6a77712c74ba5fea42d84101d410f72375556e0599bdd6a9b5e970b04ed2812b', '20261121190000_closed_holds', '2026-11-24T12:00:00Z', '2026-11-24T12:00:00Z', 1),
  ('00000000-0000-4000-8000-000000000008', 'e0cc92720bae0ddb3fb32b5598be8a8a8e38821df6d81d5067eeec591dedd48a', '20261122013000_postings_by_time', '2026-11-24T12:00:00Z', '2026-11-24T12:00:00Z', 1),
  ('00000000-0000-4000-8000-000000000009', 'c7a9ef3f6ad3b59aa4b1ca6ef7b335e282d5115987905d683ba9b2c24406982b', '20261122013100_open_and_closed_holds', '2026-11-24T12:00:00Z', '2026-11-24T12:00:00Z', 1),
  ('00000000-0000-4000-8000-000000000010', '7c956688cd6fbbb85fce5fc02b47da594e45d7d4baba2ea525772f2271ac69e3', '20261122021000_statement_and_alerts', '2026-11-24T12:00:00Z', '2026-11-24T12:00:00Z', 1),
  ('00000000-0000-4000-8000-000000000011', '63f04d55c5c8e59d248aff4c4d6f38c0f6d581bbcb137ccaa618bdae539e84cf', '20261122024500_reconciliation', '2026-11-24T12:00:00Z', '2026-11-24T12:00:00Z', 1),
  ('00000000-0000-4000-8000-000000000012', '8456d941f75054ec9fc14b3ada8980ddfbab89da1b42626578de8b7f04d21a31', '20261122060000_settled_windows', '2026-11-24T12:00:00Z', '2026-11-24T12:00:00Z', 1),
  ('00000000-0000-4000-8000-000000000013', '7296088ed349b91862e3deb54e4661bdc6ed577751a2ba7f41318ea33148455a', '20261122070000_windows_from_first_posting', '2026-11-24T12:00:00Z', '2026-11-24T12:00:00Z', 1),
  ('00000000-0000-4000-8000-000000000014', '122919399e1ac28b61cf571eda77340853263d49907c13a850021ea3e18b487c', '20261122080000_short_locks', '2026-11-24T12:00:00Z', '2026-11-24T12:00:00Z', 1),
  ('00000000-0000-4000-8000-000000000015', '903930d244ba7dd435ef3a8e06807e7f87901b580b891f9fdc1630a399cab659', '20261123010000_settle_held', '2026-11-24T12:00:00Z', '2026-11-24T12:00:00Z', 1),
  ('00000000-0000-4000-8000-000000000016', 'c671d19c0924262f03c7e2f42494a04c1b24215c30a7530615b79e2469d43cb3', '20261123030000_hold_all', '2026-11-24T12:00:00Z', '2026-11-24T12:00:00Z', 1),
  ('00000000-0000-4000-8000-000000000017', '69b9bab7d577ed8a41f5e6685ed933db8a45ec4d001e4a78d165c7b09009dcd3', '20261123190000_arguments_by_index', '2026-11-24T12:00:00Z', '2026-11-24T12:00:00Z', 1);

create table billing_ledger.accounts (
  organization_id text collate "C" not null,
  credited_nano_usd bigint not null default 0,
  available_nano_usd bigint not null default 0,
  held_nano_usd bigint not null default 0,
  charged_nano_usd bigint not null default 0,
  uncollected_nano_usd bigint not null default 0,
  primary key (organization_id)
);

insert into billing_ledger.accounts values ('org-1', 100, 70, 20, 10, 0);

create schema inference_router;

create table inference_router._prisma_migrations (
  id                  varchar(36) primary key not null,
  checksum            varchar(64) not null,
  finished_at         timestamptz,
  migration_name      varchar(255) not null,
  logs                text,
  rolled_back_at      timestamptz,
  started_at          timestamptz not null default now(),
  applied_steps_count integer not null default 0
);

insert into inference_router._prisma_migrations (id, checksum, migration_name, finished_at, started_at, applied_steps_count) values
  ('00000000-0000-4000-8000-000000000001', '6319a0985339ceb044b29e179d2fa3b5ac8ffa5b344e4e75704edfed8f12f91c', '20261122023000_drains', '2026-11-24T12:00:00Z', '2026-11-24T12:00:00Z', 1);

create table inference_router.drained_targets (
  target text collate "C" not null,
  since_unix_ms bigint not null,
  drained_by text not null,
  reason text not null,
  primary key (target)
);

insert into inference_router.drained_targets values ('demo/small of demo', 1795521600000, 'mem-1', 'maintenance');

create schema usage;

create table usage._prisma_migrations (
  id                  varchar(36) primary key not null,
  checksum            varchar(64) not null,
  finished_at         timestamptz,
  migration_name      varchar(255) not null,
  logs                text,
  rolled_back_at      timestamptz,
  started_at          timestamptz not null default now(),
  applied_steps_count integer not null default 0
);

insert into usage._prisma_migrations (id, checksum, migration_name, finished_at, started_at, applied_steps_count) values
  ('00000000-0000-4000-8000-000000000001', 'e773040d99220476b108a2e47e6abdc68c81af9fdaa2b31a9a6dc0c0f88da2f5', '20261120090000_usage', '2026-11-24T12:00:00Z', '2026-11-24T12:00:00Z', 1),
  ('00000000-0000-4000-8000-000000000002', 'cc321a766d808948bc58266cdb71b836a906ff7de9af7bd21bdb3b20c4099b29', '20261121180000_usage_source', '2026-11-24T12:00:00Z', '2026-11-24T12:00:00Z', 1),
  ('00000000-0000-4000-8000-000000000003', 'c828358b2aef5d251cdc99ac1bb48b3e3e7d4fb314b28d644fa4ab6dadb07965', '20261122010000_generation_partitions', '2026-11-24T12:00:00Z', '2026-11-24T12:00:00Z', 1),
  ('00000000-0000-4000-8000-000000000004', 'c78bf1a2a7d102ec9358b0df7741bd080db370dd1e3bbd05b48ee5090e8ad4f0', '20261122060000_reconciliation', '2026-11-24T12:00:00Z', '2026-11-24T12:00:00Z', 1),
  ('00000000-0000-4000-8000-000000000005', '12903ac6b12bcc6dd98ee13fb65b4181e21fac9beca451c6ecb62e1877b7e5df', '20261122090000_generation_table_names', '2026-11-24T12:00:00Z', '2026-11-24T12:00:00Z', 1);

create table usage.reconciliation_progress (
  is_the_only_row boolean not null default true,
  compared_until_unix_ms bigint not null default 0,
  primary key (is_the_only_row)
);

insert into usage.reconciliation_progress values (true, 1795521600000);
