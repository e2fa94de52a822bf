-- What the ledger says that it settled, an hour of admission at a time, for as
-- long as it was not found to be the same here.
create table reconciliation_told (
  organization_id   text collate "C" not null,
  -- Settled from then on, and before the other.
  from_unix_ms      bigint not null,
  until_unix_ms     bigint not null,
  -- When the hour of admission begins.
  hour_unix_ms      bigint not null,
  generations       bigint not null,
  cost_nano_usd     bigint not null,
  charged_nano_usd  bigint not null,
  -- When it was compared last; zero before the first time.
  compared_unix_ms  bigint not null default 0,
  primary key (organization_id, from_unix_ms, hour_unix_ms)
);

create index reconciliation_told_by_turn on reconciliation_told (compared_unix_ms, from_unix_ms);

-- What does not agree, for as long as it does not.
create table reconciliation_differences (
  organization_id           text collate "C" not null,
  -- settlements, hourly_sums or daily_sums.
  kind                      text collate "C" not null,
  -- When the hour or day begins.
  starts_unix_ms            bigint not null,
  -- When what was settled of it begins; zero of sums.
  from_unix_ms              bigint not null,
  expected_generations      bigint not null,
  expected_cost_nano_usd    bigint not null,
  expected_charged_nano_usd bigint not null,
  found_generations         bigint not null,
  found_cost_nano_usd       bigint not null,
  found_charged_nano_usd    bigint not null,
  first_seen_unix_ms        bigint not null,
  last_seen_unix_ms         bigint not null,
  primary key (organization_id, kind, starts_unix_ms, from_unix_ms)
);

-- How far the comparing has come.
create table reconciliation_progress (
  is_the_only_row        boolean primary key default true check (is_the_only_row),
  -- The latest end of what was compared.
  compared_until_unix_ms bigint not null default 0
);
