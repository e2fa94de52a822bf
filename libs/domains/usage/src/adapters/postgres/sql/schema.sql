-- The tables of the schema usage in version 0.1.0; later changes are in
-- migrations/. Amounts are nano-dollars, times are milliseconds since 1970.

-- One row per settled generation; its id makes redelivery harmless. A table per
-- UTC month of admission, so that old generations are deleted by dropping a
-- table; the service creates the months. Rollups are permanent. Ids and names
-- compare by bytes: faster, and the same on every server.
create table generations (
  id                     text collate "C" not null,
  organization_id        text collate "C" not null,
  key_id                 text collate "C" not null,
  request_id             text collate "C" not null,
  model_id               text collate "C" not null,
  provider               text not null,
  provider_model         text not null,
  created_unix_ms        bigint not null,
  settled_unix_ms        bigint not null,
  day                    date not null,
  streamed               boolean not null,
  cancelled              boolean not null,
  finish_reason          text not null,
  prompt_tokens          bigint not null,
  cached_tokens          bigint not null,
  -- Written to the prompt cache for five minutes; for one hour.
  cache_write_tokens     bigint not null,
  cache_write_1h_tokens  bigint not null,
  image_tokens           bigint not null,
  completion_tokens      bigint not null,
  reasoning_tokens       bigint not null,
  cost_nano_usd          bigint not null,
  charged_nano_usd       bigint not null,
  latency_ms             bigint not null,
  generation_time_ms     bigint not null,
  external_user          text collate "C",
  error_code             text,
  -- Which side counted the tokens: provider or counted (by the gateway). Null when unknown.
  usage_source           text,
  -- completed, cancelled or failed.
  status                 text collate "C" not null,
  -- From admission to the first output; null unless streamed.
  time_to_first_token_ms bigint,
  -- [{provider, provider_model, reason, outcome, duration_ms, error}], in the order of the calls. The error
  -- of the provider, {httpStatus, code, type, text}, is for operators only.
  attempts               jsonb,
  -- The prices that the cost was computed with, as the text of encodePrices; null when the settlement named none.
  prices                 text,
  -- What the operator pays the provider; null when unknown. For operators only.
  provider_cost_nano_usd bigint,
  run_id                 text collate "C",
  -- The project of the key when the request was admitted; empty without one.
  project_id             text collate "C" not null,
  -- completions, messages, responses or embeddings.
  api_type               text collate "C" not null,
  -- The tags of the request, {name: value}; null without any.
  tags                   jsonb,
  -- Includes the time because the table is partitioned by it; an id has one time only.
  constraint generations_pkey primary key (id, created_unix_ms)
) partition by range (created_unix_ms);

-- Lists are newest first. Each index makes every settlement slower, so only those
-- that find few rows among many exist; the rest of a filter is checked row by row
-- along one of them, up to a limit.
create index generations_by_time on generations (organization_id, created_unix_ms);
create index generations_by_key on generations (key_id, created_unix_ms);
create index generations_by_request on generations (request_id);
create index generations_by_external_user on generations (organization_id, external_user, created_unix_ms)
  where external_user is not null;
create index generations_by_run on generations (organization_id, run_id, created_unix_ms)
  where run_id is not null;
create index generations_not_completed on generations (organization_id, status, created_unix_ms)
  where status <> 'completed';

-- Generations of months without a table: no time is ever refused.
create table generations_default partition of generations default;

-- Sums over generations, by day and by hour, updated in the transaction that
-- stores the generations. Sorted by bytes, so that reports have the same order on
-- every server. Latencies are sums, counts and a histogram: duration_to_250_ms
-- counts those above the previous bound and up to 250 ms. Durations are of requests
-- that did not fail, so requests minus errors and all of the counts are above the
-- last bound. Provider costs are of the generations whose provider cost is known, and
-- charged_with_provider_cost_nano_usd is the charge of the same generations: their
-- difference is the operator's margin.
create table usage_rollups (
  organization_id text not null,
  day date not null,
  model_id text collate "C" not null,
  key_id text collate "C" not null,
  -- Empty without a project.
  project_id text collate "C" not null,
  -- As of generations.
  api_type text collate "C" not null,
  requests bigint not null,
  errors bigint not null,
  cancelled bigint not null,
  prompt_tokens bigint not null,
  cached_tokens bigint not null,
  cache_write_tokens bigint not null,
  cache_write_1h_tokens bigint not null,
  image_tokens bigint not null,
  completion_tokens bigint not null,
  reasoning_tokens bigint not null,
  cost_nano_usd bigint not null,
  charged_nano_usd bigint not null,
  provider_cost_nano_usd bigint not null,
  charged_with_provider_cost_nano_usd bigint not null,
  duration_ms bigint not null,
  first_token_count bigint not null,
  first_token_ms bigint not null,
  duration_to_10_ms bigint not null,
  duration_to_25_ms bigint not null,
  duration_to_50_ms bigint not null,
  duration_to_100_ms bigint not null,
  duration_to_250_ms bigint not null,
  duration_to_500_ms bigint not null,
  duration_to_750_ms bigint not null,
  duration_to_1000_ms bigint not null,
  duration_to_1500_ms bigint not null,
  duration_to_2500_ms bigint not null,
  duration_to_5000_ms bigint not null,
  duration_to_10000_ms bigint not null,
  duration_to_20000_ms bigint not null,
  duration_to_40000_ms bigint not null,
  duration_to_90000_ms bigint not null,
  first_token_to_10_ms bigint not null,
  first_token_to_25_ms bigint not null,
  first_token_to_50_ms bigint not null,
  first_token_to_100_ms bigint not null,
  first_token_to_250_ms bigint not null,
  first_token_to_500_ms bigint not null,
  first_token_to_750_ms bigint not null,
  first_token_to_1000_ms bigint not null,
  first_token_to_1500_ms bigint not null,
  first_token_to_2500_ms bigint not null,
  first_token_to_5000_ms bigint not null,
  first_token_to_10000_ms bigint not null,
  first_token_to_20000_ms bigint not null,
  first_token_to_40000_ms bigint not null,
  first_token_to_90000_ms bigint not null,
  primary key (organization_id, day, model_id, key_id, project_id, api_type)
) with (fillfactor = 50);

-- For the sums of all organizations.
create index usage_rollups_by_day on usage_rollups (day);

create table usage_rollups_hourly (
  organization_id text collate "C" not null,
  -- The start of the hour.
  hour_unix_ms bigint not null,
  model_id text collate "C" not null,
  key_id text collate "C" not null,
  project_id text collate "C" not null,
  api_type text collate "C" not null,
  requests bigint not null,
  errors bigint not null,
  cancelled bigint not null,
  prompt_tokens bigint not null,
  cached_tokens bigint not null,
  cache_write_tokens bigint not null,
  cache_write_1h_tokens bigint not null,
  image_tokens bigint not null,
  completion_tokens bigint not null,
  reasoning_tokens bigint not null,
  cost_nano_usd bigint not null,
  charged_nano_usd bigint not null,
  provider_cost_nano_usd bigint not null,
  charged_with_provider_cost_nano_usd bigint not null,
  duration_ms bigint not null,
  first_token_count bigint not null,
  first_token_ms bigint not null,
  duration_to_10_ms bigint not null,
  duration_to_25_ms bigint not null,
  duration_to_50_ms bigint not null,
  duration_to_100_ms bigint not null,
  duration_to_250_ms bigint not null,
  duration_to_500_ms bigint not null,
  duration_to_750_ms bigint not null,
  duration_to_1000_ms bigint not null,
  duration_to_1500_ms bigint not null,
  duration_to_2500_ms bigint not null,
  duration_to_5000_ms bigint not null,
  duration_to_10000_ms bigint not null,
  duration_to_20000_ms bigint not null,
  duration_to_40000_ms bigint not null,
  duration_to_90000_ms bigint not null,
  first_token_to_10_ms bigint not null,
  first_token_to_25_ms bigint not null,
  first_token_to_50_ms bigint not null,
  first_token_to_100_ms bigint not null,
  first_token_to_250_ms bigint not null,
  first_token_to_500_ms bigint not null,
  first_token_to_750_ms bigint not null,
  first_token_to_1000_ms bigint not null,
  first_token_to_1500_ms bigint not null,
  first_token_to_2500_ms bigint not null,
  first_token_to_5000_ms bigint not null,
  first_token_to_10000_ms bigint not null,
  first_token_to_20000_ms bigint not null,
  first_token_to_40000_ms bigint not null,
  first_token_to_90000_ms bigint not null,
  primary key (organization_id, hour_unix_ms, model_id, key_id, project_id, api_type)
) with (fillfactor = 50);

-- Sums by end user and by the value of each tag, by day and by hour, like the sums above.
-- Generations without a value are not in these tables: they are the rest of the sums above,
-- also when a tag was declared during a day.
create table usage_value_rollups (
  organization_id text collate "C" not null,
  day date not null,
  -- user, or tag: and the name of the tag.
  dimension text collate "C" not null,
  -- The values beyond the limit of a dimension and day share one row, whose value is empty.
  is_other boolean not null,
  value text collate "C" not null,
  requests bigint not null,
  errors bigint not null,
  cancelled bigint not null,
  prompt_tokens bigint not null,
  cached_tokens bigint not null,
  cache_write_tokens bigint not null,
  cache_write_1h_tokens bigint not null,
  image_tokens bigint not null,
  completion_tokens bigint not null,
  reasoning_tokens bigint not null,
  cost_nano_usd bigint not null,
  charged_nano_usd bigint not null,
  primary key (organization_id, day, dimension, is_other, value)
) with (fillfactor = 50);

create table usage_value_rollups_hourly (
  organization_id text collate "C" not null,
  -- The start of the hour.
  hour_unix_ms bigint not null,
  -- As of the day.
  dimension text collate "C" not null,
  is_other boolean not null,
  value text collate "C" not null,
  requests bigint not null,
  errors bigint not null,
  cancelled bigint not null,
  prompt_tokens bigint not null,
  cached_tokens bigint not null,
  cache_write_tokens bigint not null,
  cache_write_1h_tokens bigint not null,
  image_tokens bigint not null,
  completion_tokens bigint not null,
  reasoning_tokens bigint not null,
  cost_nano_usd bigint not null,
  charged_nano_usd bigint not null,
  primary key (organization_id, hour_unix_ms, dimension, is_other, value)
) with (fillfactor = 50);

-- Sums by provider and day, for operators. Every generation counts once.
create table usage_provider_rollups (
  day date not null,
  organization_id text collate "C" not null,
  -- Empty for generations that called none.
  provider text collate "C" not null,
  requests bigint not null,
  errors bigint not null,
  cost_nano_usd bigint not null,
  charged_nano_usd bigint not null,
  provider_cost_nano_usd bigint not null,
  charged_with_provider_cost_nano_usd bigint not null,
  -- By day first, for the sums of all organizations.
  primary key (day, organization_id, provider)
) with (fillfactor = 50);

-- Errors by code, with refused requests: requests for a generation that ended with
-- an error and have no recorded generation. They have no rows of their own, so that
-- any number of them costs a few rows.
create table error_counts_hourly (
  organization_id text collate "C" not null,
  -- The start of the hour.
  hour_unix_ms    bigint not null,
  error_code      text collate "C" not null,
  -- Empty if the request named no model of the catalogue.
  model_id        text collate "C" not null,
  key_id          text collate "C" not null,
  -- Empty without a project.
  project_id      text collate "C" not null,
  -- As of generations.
  api_type        text collate "C" not null,
  refused         bigint not null,
  -- Failed generations.
  failed          bigint not null,
  primary key (organization_id, hour_unix_ms, error_code, model_id, key_id, project_id, api_type)
) with (fillfactor = 50);

create index error_counts_hourly_by_time on error_counts_hourly (hour_unix_ms);

-- The latest refused requests, at most 20 of an organization and error code.
create table refused_requests (
  request_id      text collate "C" not null,
  organization_id text collate "C" not null,
  key_id          text collate "C" not null,
  -- As the client named it; empty if unknown.
  model           text not null,
  error_code      text collate "C" not null,
  error_message   text not null,
  -- As of generations.
  api_type        text collate "C" not null,
  refused_unix_ms bigint not null,
  -- By request first, so that operators find one without its organization.
  primary key (request_id, organization_id)
);

create index refused_requests_by_code on refused_requests (organization_id, error_code, refused_unix_ms, request_id);
create index refused_requests_by_time on refused_requests (refused_unix_ms);

-- The last report of refused requests of each edge, so that each counts once.
create table refusal_reporters (
  reporter_id        text collate "C" primary key,
  last_report_number bigint not null,
  reported_unix_ms   bigint not null
);

-- Sums of settlements that the ledger announced, one row per hour of admission.
-- Deleted once they match the generations here.
create table announced_settlements (
  organization_id   text collate "C" not null,
  -- Settled from this time on, and before the next.
  from_unix_ms      bigint not null,
  until_unix_ms     bigint not null,
  -- The start of the hour of admission.
  hour_unix_ms      bigint not null,
  generations       bigint not null,
  cost_nano_usd     bigint not null,
  charged_nano_usd  bigint not null,
  -- When it was compared last; zero before the first time.
  compared_unix_ms  bigint not null default 0,
  primary key (organization_id, from_unix_ms, hour_unix_ms)
);

create index announced_settlements_by_comparison on announced_settlements (compared_unix_ms, from_unix_ms);

-- Current differences.
create table reconciliation_differences (
  organization_id           text collate "C" not null,
  -- settlements, hourly_sums, daily_sums, hourly_values, daily_values or daily_providers.
  kind                      text collate "C" not null,
  -- The start of the hour or day.
  starts_unix_ms            bigint not null,
  -- The start of the settlements compared; zero for sums.
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

-- How far the comparison has got.
create table reconciliation_progress (
  is_the_only_row        boolean primary key default true check (is_the_only_row),
  -- The latest end of the compared settlements.
  compared_until_unix_ms bigint not null default 0
);
