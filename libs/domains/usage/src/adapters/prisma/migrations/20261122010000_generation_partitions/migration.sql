-- Generations are kept in a table per UTC month of their admission, so that old
-- ones go by dropping a table. Rollups are kept: by day as before, and by hour.
-- A version of the gateway from before this migration cannot add generations any
-- more; what it leaves is delivered again, and added by the one after.

alter table "generations" rename to "generations_before";
alter table "generations_before" rename constraint "generations_pkey" to "generations_before_pkey";
alter index "generations_organization_id_created_unix_ms_idx" rename to "generations_before_by_time";

-- Ids and names compare by bytes: faster, and the same everywhere.
create table "generations" (
  "id"                     text collate "C" not null,
  "organization_id"        text collate "C" not null,
  "key_id"                 text collate "C" not null,
  "request_id"             text collate "C" not null,
  "model_id"               text collate "C" not null,
  "provider"               text not null,
  "provider_model"         text not null,
  "created_unix_ms"        bigint not null,
  "settled_unix_ms"        bigint not null,
  "day"                    date not null,
  "streamed"               boolean not null,
  "cancelled"              boolean not null,
  "finish_reason"          text not null,
  "prompt_tokens"          bigint not null,
  "cached_tokens"          bigint not null,
  "image_tokens"           bigint not null,
  "completion_tokens"      bigint not null,
  "reasoning_tokens"       bigint not null,
  "cost_nano_usd"          bigint not null,
  "charged_nano_usd"       bigint not null,
  "latency_ms"             bigint not null,
  "generation_time_ms"     bigint not null,
  "external_user"          text collate "C",
  "error_code"             text,
  "usage_source"           text,
  -- completed, cancelled or failed.
  "status"                 text collate "C" not null,
  -- From admission to the first output; null unless streamed.
  "time_to_first_token_ms" bigint,
  -- [{provider, provider_model, outcome, duration_ms}], in the order of the calls.
  "attempts"               jsonb,
  -- By which the cost was worked out; null of generations from before they were kept.
  "input_nano_usd_per_million"        bigint,
  "cached_input_nano_usd_per_million" bigint,
  "output_nano_usd_per_million"       bigint,
  "reasoning_nano_usd_per_million"    bigint,
  "image_nano_usd_per_million"        bigint,
  -- The time is in it since the table is divided by it; an id has one time only.
  constraint "generations_pkey" primary key ("id", "created_unix_ms")
) partition by range ("created_unix_ms");

-- Lists are newest first. Each index costs every settlement, so there are those by
-- which little is found among much; what is left of a filter is looked for along
-- one of them, so far at a time.
create index "generations_by_time" on "generations" ("organization_id", "created_unix_ms");
create index "generations_by_key" on "generations" ("key_id", "created_unix_ms");
create index "generations_by_request" on "generations" ("request_id");
create index "generations_by_external_user" on "generations" ("organization_id", "external_user", "created_unix_ms")
  where "external_user" is not null;
create index "generations_not_completed" on "generations" ("organization_id", "status", "created_unix_ms")
  where "status" <> 'completed';

-- What no month has a table for: nothing is ever refused for its time.
create table "generations_other" partition of "generations" default;

-- Makes the table of a month, and says whether it was missing. What is of this
-- month and came before its table moves into it.
create function create_generation_month(p_month date) returns boolean
language plpgsql
as $$
declare
  v_name text := 'generations_' || to_char(p_month, 'YYYY_MM');
  v_starts bigint := extract(epoch from p_month)::bigint * 1000;
  v_ends bigint := extract(epoch from p_month + interval '1 month')::bigint * 1000;
begin
  if to_regclass(quote_ident(v_name)) is not null then
    return false;
  end if;
  lock table generations_other in access exclusive mode;
  execute format('create table %I (like generations including defaults)', v_name);
  execute format(
    'with moved as (delete from generations_other where created_unix_ms >= $1 and created_unix_ms < $2 returning *)
     insert into %I select * from moved', v_name) using v_starts, v_ends;
  execute format('alter table generations attach partition %I for values from (%s) to (%s)', v_name, v_starts, v_ends);
  return true;
end
$$;

do $$
declare
  v_month date;
begin
  for v_month in
    select distinct date_trunc('month', day)::date from generations_before where day between '2020-01-01' and current_date + 400
  loop
    perform create_generation_month(v_month);
  end loop;
end
$$;

insert into "generations" (
  "id", "organization_id", "key_id", "request_id", "model_id", "provider", "provider_model", "created_unix_ms",
  "settled_unix_ms", "day", "streamed", "cancelled", "finish_reason", "prompt_tokens", "cached_tokens", "image_tokens",
  "completion_tokens", "reasoning_tokens", "cost_nano_usd", "charged_nano_usd", "latency_ms", "generation_time_ms",
  "external_user", "error_code", "usage_source", "status"
)
select
  "id", "organization_id", "key_id", "request_id", "model_id", "provider", "provider_model", "created_unix_ms",
  "settled_unix_ms", "day", "streamed", "cancelled", "finish_reason", "prompt_tokens", "cached_tokens", "image_tokens",
  "completion_tokens", "reasoning_tokens", "cost_nano_usd", "charged_nano_usd", "latency_ms", "generation_time_ms",
  "external_user", "error_code", "usage_source",
  case when "error_code" is not null or "finish_reason" = 'error' then 'failed' when "cancelled" then 'cancelled' else 'completed' end
from "generations_before";

drop table "generations_before";

-- Latencies are sums, counts and a histogram: "duration_to_250_ms" counts what took
-- more than the bound before, and 250 ms at most. What is above the last is the rest.
alter table "usage_rollups" set (fillfactor = 50);
alter table "usage_rollups"
  add column "errors" bigint not null default 0,
  add column "cancelled" bigint not null default 0,
  add column "image_tokens" bigint not null default 0,
  add column "duration_ms" bigint not null default 0,
  add column "first_token_count" bigint not null default 0,
  add column "first_token_ms" bigint not null default 0,
  add column "duration_to_100_ms" bigint not null default 0,
  add column "duration_to_250_ms" bigint not null default 0,
  add column "duration_to_500_ms" bigint not null default 0,
  add column "duration_to_750_ms" bigint not null default 0,
  add column "duration_to_1000_ms" bigint not null default 0,
  add column "duration_to_1500_ms" bigint not null default 0,
  add column "duration_to_2500_ms" bigint not null default 0,
  add column "duration_to_5000_ms" bigint not null default 0,
  add column "duration_to_10000_ms" bigint not null default 0,
  add column "duration_to_20000_ms" bigint not null default 0,
  add column "duration_to_40000_ms" bigint not null default 0,
  add column "duration_to_90000_ms" bigint not null default 0,
  add column "first_token_to_100_ms" bigint not null default 0,
  add column "first_token_to_250_ms" bigint not null default 0,
  add column "first_token_to_500_ms" bigint not null default 0,
  add column "first_token_to_750_ms" bigint not null default 0,
  add column "first_token_to_1000_ms" bigint not null default 0,
  add column "first_token_to_1500_ms" bigint not null default 0,
  add column "first_token_to_2500_ms" bigint not null default 0,
  add column "first_token_to_5000_ms" bigint not null default 0,
  add column "first_token_to_10000_ms" bigint not null default 0,
  add column "first_token_to_20000_ms" bigint not null default 0,
  add column "first_token_to_40000_ms" bigint not null default 0,
  add column "first_token_to_90000_ms" bigint not null default 0;

create table "usage_rollups_hourly" (
  "organization_id" text collate "C" not null,
  -- When the hour begins.
  "hour_unix_ms" bigint not null,
  "model_id" text collate "C" not null,
  "key_id" text collate "C" not null,
  "requests" bigint not null,
  "errors" bigint not null,
  "cancelled" bigint not null,
  "prompt_tokens" bigint not null,
  "cached_tokens" bigint not null,
  "image_tokens" bigint not null,
  "completion_tokens" bigint not null,
  "reasoning_tokens" bigint not null,
  "cost_nano_usd" bigint not null,
  "charged_nano_usd" bigint not null,
  "duration_ms" bigint not null,
  "first_token_count" bigint not null,
  "first_token_ms" bigint not null,
  "duration_to_100_ms" bigint not null,
  "duration_to_250_ms" bigint not null,
  "duration_to_500_ms" bigint not null,
  "duration_to_750_ms" bigint not null,
  "duration_to_1000_ms" bigint not null,
  "duration_to_1500_ms" bigint not null,
  "duration_to_2500_ms" bigint not null,
  "duration_to_5000_ms" bigint not null,
  "duration_to_10000_ms" bigint not null,
  "duration_to_20000_ms" bigint not null,
  "duration_to_40000_ms" bigint not null,
  "duration_to_90000_ms" bigint not null,
  "first_token_to_100_ms" bigint not null,
  "first_token_to_250_ms" bigint not null,
  "first_token_to_500_ms" bigint not null,
  "first_token_to_750_ms" bigint not null,
  "first_token_to_1000_ms" bigint not null,
  "first_token_to_1500_ms" bigint not null,
  "first_token_to_2500_ms" bigint not null,
  "first_token_to_5000_ms" bigint not null,
  "first_token_to_10000_ms" bigint not null,
  "first_token_to_20000_ms" bigint not null,
  "first_token_to_40000_ms" bigint not null,
  "first_token_to_90000_ms" bigint not null,
  primary key ("organization_id", "hour_unix_ms", "model_id", "key_id")
) with (fillfactor = 50);

insert into "usage_rollups_hourly" (
  organization_id, hour_unix_ms, model_id, key_id,
  requests,
  errors,
  cancelled,
  prompt_tokens,
  cached_tokens,
  image_tokens,
  completion_tokens,
  reasoning_tokens,
  cost_nano_usd,
  charged_nano_usd,
  duration_ms,
  first_token_count,
  first_token_ms,
  duration_to_100_ms,
  duration_to_250_ms,
  duration_to_500_ms,
  duration_to_750_ms,
  duration_to_1000_ms,
  duration_to_1500_ms,
  duration_to_2500_ms,
  duration_to_5000_ms,
  duration_to_10000_ms,
  duration_to_20000_ms,
  duration_to_40000_ms,
  duration_to_90000_ms,
  first_token_to_100_ms,
  first_token_to_250_ms,
  first_token_to_500_ms,
  first_token_to_750_ms,
  first_token_to_1000_ms,
  first_token_to_1500_ms,
  first_token_to_2500_ms,
  first_token_to_5000_ms,
  first_token_to_10000_ms,
  first_token_to_20000_ms,
  first_token_to_40000_ms,
  first_token_to_90000_ms
)
select
  organization_id, created_unix_ms / 3600000 * 3600000, model_id, key_id,
  count(*),
  count(*) filter (where status = 'failed'),
  count(*) filter (where status = 'cancelled'),
  sum(prompt_tokens),
  sum(cached_tokens),
  sum(image_tokens),
  sum(completion_tokens),
  sum(reasoning_tokens),
  sum(cost_nano_usd),
  sum(charged_nano_usd),
  sum(latency_ms + generation_time_ms),
  count(time_to_first_token_ms),
  coalesce(sum(time_to_first_token_ms), 0),
  count(*) filter (where latency_ms + generation_time_ms <= 100),
  count(*) filter (where latency_ms + generation_time_ms <= 250 and latency_ms + generation_time_ms > 100),
  count(*) filter (where latency_ms + generation_time_ms <= 500 and latency_ms + generation_time_ms > 250),
  count(*) filter (where latency_ms + generation_time_ms <= 750 and latency_ms + generation_time_ms > 500),
  count(*) filter (where latency_ms + generation_time_ms <= 1000 and latency_ms + generation_time_ms > 750),
  count(*) filter (where latency_ms + generation_time_ms <= 1500 and latency_ms + generation_time_ms > 1000),
  count(*) filter (where latency_ms + generation_time_ms <= 2500 and latency_ms + generation_time_ms > 1500),
  count(*) filter (where latency_ms + generation_time_ms <= 5000 and latency_ms + generation_time_ms > 2500),
  count(*) filter (where latency_ms + generation_time_ms <= 10000 and latency_ms + generation_time_ms > 5000),
  count(*) filter (where latency_ms + generation_time_ms <= 20000 and latency_ms + generation_time_ms > 10000),
  count(*) filter (where latency_ms + generation_time_ms <= 40000 and latency_ms + generation_time_ms > 20000),
  count(*) filter (where latency_ms + generation_time_ms <= 90000 and latency_ms + generation_time_ms > 40000),
  count(*) filter (where time_to_first_token_ms <= 100),
  count(*) filter (where time_to_first_token_ms <= 250 and time_to_first_token_ms > 100),
  count(*) filter (where time_to_first_token_ms <= 500 and time_to_first_token_ms > 250),
  count(*) filter (where time_to_first_token_ms <= 750 and time_to_first_token_ms > 500),
  count(*) filter (where time_to_first_token_ms <= 1000 and time_to_first_token_ms > 750),
  count(*) filter (where time_to_first_token_ms <= 1500 and time_to_first_token_ms > 1000),
  count(*) filter (where time_to_first_token_ms <= 2500 and time_to_first_token_ms > 1500),
  count(*) filter (where time_to_first_token_ms <= 5000 and time_to_first_token_ms > 2500),
  count(*) filter (where time_to_first_token_ms <= 10000 and time_to_first_token_ms > 5000),
  count(*) filter (where time_to_first_token_ms <= 20000 and time_to_first_token_ms > 10000),
  count(*) filter (where time_to_first_token_ms <= 40000 and time_to_first_token_ms > 20000),
  count(*) filter (where time_to_first_token_ms <= 90000 and time_to_first_token_ms > 40000)
from "generations"
group by 1, 2, 3, 4;

update "usage_rollups" rollup
set
  "errors" = sums."errors",
  "cancelled" = sums."cancelled",
  "image_tokens" = sums."image_tokens",
  "duration_ms" = sums."duration_ms",
  "first_token_count" = sums."first_token_count",
  "first_token_ms" = sums."first_token_ms",
  "duration_to_100_ms" = sums."duration_to_100_ms",
  "duration_to_250_ms" = sums."duration_to_250_ms",
  "duration_to_500_ms" = sums."duration_to_500_ms",
  "duration_to_750_ms" = sums."duration_to_750_ms",
  "duration_to_1000_ms" = sums."duration_to_1000_ms",
  "duration_to_1500_ms" = sums."duration_to_1500_ms",
  "duration_to_2500_ms" = sums."duration_to_2500_ms",
  "duration_to_5000_ms" = sums."duration_to_5000_ms",
  "duration_to_10000_ms" = sums."duration_to_10000_ms",
  "duration_to_20000_ms" = sums."duration_to_20000_ms",
  "duration_to_40000_ms" = sums."duration_to_40000_ms",
  "duration_to_90000_ms" = sums."duration_to_90000_ms",
  "first_token_to_100_ms" = sums."first_token_to_100_ms",
  "first_token_to_250_ms" = sums."first_token_to_250_ms",
  "first_token_to_500_ms" = sums."first_token_to_500_ms",
  "first_token_to_750_ms" = sums."first_token_to_750_ms",
  "first_token_to_1000_ms" = sums."first_token_to_1000_ms",
  "first_token_to_1500_ms" = sums."first_token_to_1500_ms",
  "first_token_to_2500_ms" = sums."first_token_to_2500_ms",
  "first_token_to_5000_ms" = sums."first_token_to_5000_ms",
  "first_token_to_10000_ms" = sums."first_token_to_10000_ms",
  "first_token_to_20000_ms" = sums."first_token_to_20000_ms",
  "first_token_to_40000_ms" = sums."first_token_to_40000_ms",
  "first_token_to_90000_ms" = sums."first_token_to_90000_ms"
from (
  select
    organization_id, date(to_timestamp(hour_unix_ms / 1000) at time zone 'UTC') as day, model_id, key_id,
    sum("errors") as "errors",
    sum("cancelled") as "cancelled",
    sum("image_tokens") as "image_tokens",
    sum("duration_ms") as "duration_ms",
    sum("first_token_count") as "first_token_count",
    sum("first_token_ms") as "first_token_ms",
    sum("duration_to_100_ms") as "duration_to_100_ms",
    sum("duration_to_250_ms") as "duration_to_250_ms",
    sum("duration_to_500_ms") as "duration_to_500_ms",
    sum("duration_to_750_ms") as "duration_to_750_ms",
    sum("duration_to_1000_ms") as "duration_to_1000_ms",
    sum("duration_to_1500_ms") as "duration_to_1500_ms",
    sum("duration_to_2500_ms") as "duration_to_2500_ms",
    sum("duration_to_5000_ms") as "duration_to_5000_ms",
    sum("duration_to_10000_ms") as "duration_to_10000_ms",
    sum("duration_to_20000_ms") as "duration_to_20000_ms",
    sum("duration_to_40000_ms") as "duration_to_40000_ms",
    sum("duration_to_90000_ms") as "duration_to_90000_ms",
    sum("first_token_to_100_ms") as "first_token_to_100_ms",
    sum("first_token_to_250_ms") as "first_token_to_250_ms",
    sum("first_token_to_500_ms") as "first_token_to_500_ms",
    sum("first_token_to_750_ms") as "first_token_to_750_ms",
    sum("first_token_to_1000_ms") as "first_token_to_1000_ms",
    sum("first_token_to_1500_ms") as "first_token_to_1500_ms",
    sum("first_token_to_2500_ms") as "first_token_to_2500_ms",
    sum("first_token_to_5000_ms") as "first_token_to_5000_ms",
    sum("first_token_to_10000_ms") as "first_token_to_10000_ms",
    sum("first_token_to_20000_ms") as "first_token_to_20000_ms",
    sum("first_token_to_40000_ms") as "first_token_to_40000_ms",
    sum("first_token_to_90000_ms") as "first_token_to_90000_ms"
  from "usage_rollups_hourly"
  group by 1, 2, 3, 4
) sums
where rollup.organization_id = sums.organization_id collate "C" and rollup.day = sums.day
  and rollup.model_id = sums.model_id and rollup.key_id = sums.key_id;
