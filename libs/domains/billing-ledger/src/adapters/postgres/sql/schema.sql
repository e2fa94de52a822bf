-- The tables of the schema billing_ledger in version 0.1.0. Its functions are in
-- functions/, a file each; what changed since is in migrations/.
--
-- Amounts are nano-dollars, times are milliseconds since 1970. Identifiers
-- compare by bytes, so that every process locks rows in the same order. Checks
-- are few and wide: every statement that writes prepares each of them again.
--
-- Every function that moves money works on a whole batch and starts with
-- lock_accounts. That one order of locking keeps overlapping batches from
-- deadlocking: nothing else may be locked before the accounts. The planner
-- settings of the functions pin plans to primary-key lookups: without them a
-- plan made while a table was small would scan it whole once it is large.

-- Rewritten by every batch of an organization: free space on the page keeps each
-- new version on it, and early vacuuming keeps the chains of versions short.
create table accounts (
  organization_id      text collate "C" primary key,
  -- Everything ever added.
  credited_nano_usd    bigint not null default 0,
  available_nano_usd   bigint not null default 0,
  held_nano_usd        bigint not null default 0,
  -- Everything ever paid.
  charged_nano_usd     bigint not null default 0,
  -- Cost that no balance was left to pay.
  uncollected_nano_usd bigint not null default 0,
  constraint accounts_are_never_negative check (
    least(credited_nano_usd, available_nano_usd, held_nano_usd, charged_nano_usd, uncollected_nano_usd) >= 0
  ),
  constraint accounts_add_up
    check (credited_nano_usd = available_nano_usd + held_nano_usd + charged_nano_usd)
) with (fillfactor = 50, autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 1000);

-- One row per movement of money and one column per ledger account: an entry
-- without its counter-entries cannot be written. A credit is posted once, and a
-- hold is taken once, settled once and voided once: the primary key ensures it.
--
-- Postings are never deleted, so they are partitioned by time: no process writes
-- to the old tables. The partition key is the reference. A hold's id starts with
-- the time of its creation, so ids sort by time, and the primary key covers all
-- partitions together, which a key that includes the time of posting could not.
create table postings (
  reference            text collate "C" not null,
  kind                 text collate "C" not null check (kind in ('credit', 'hold', 'settlement', 'void')),
  organization_id      text collate "C" not null,
  posted_unix_ms       bigint not null,
  credit_nano_usd      bigint not null default 0,
  held_nano_usd        bigint not null default 0,
  revenue_nano_usd     bigint not null default 0,
  uncollected_nano_usd bigint not null default 0,
  funding_nano_usd     bigint not null default 0,
  primary key (reference, kind),
  constraint postings_add_up_to_zero check (
    credit_nano_usd + held_nano_usd + revenue_nano_usd + uncollected_nano_usd + funding_nano_usd = 0
  )
) partition by range (reference);

-- References of any other form, and those written before their partition exists.
create table postings_default partition of postings default;
create table postings_of_credits partition of postings for values from ('crd-') to ('crd.');

-- An organization's statement, in order of time.
create index postings_by_organization on postings (organization_id, posted_unix_ms, reference, kind);

-- A correction is a credit below zero: it moves the same columns the other way,
-- and never more than is available.
create table credits (
  credit_id       text collate "C" primary key,
  organization_id text collate "C" not null,
  amount_nano_usd bigint not null,
  note            text not null,
  added_unix_ms   bigint not null,
  constraint credits_are_of_something check (amount_nano_usd <> 0)
);

create index credits_by_organization on credits (organization_id, added_unix_ms);

-- What an operator was shown before confirming a correction. Its id becomes the credit's.
create table previewed_corrections (
  correction_id   text collate "C" primary key,
  organization_id text collate "C" not null,
  -- The amount to take back.
  amount_nano_usd bigint not null check (amount_nano_usd > 0),
  note            text not null,
  expires_unix_ms bigint not null
);

create index previewed_corrections_by_expiry on previewed_corrections (expires_unix_ms);

-- Open holds are in a small table of their own, so that nothing that a request
-- waits for grows with history. A hold that closes moves to closed_holds.
--
-- One id, one hold: every id enters through open_holds, also when it is closed
-- in the same transaction, and the function that entered it then looks in
-- closed_holds. The two primary keys together guarantee that an id is used once.
create table open_holds (
  hold_id                           text collate "C" primary key,
  organization_id                   text collate "C" not null,
  key_id                            text collate "C" not null,
  amount_nano_usd                   bigint not null,
  input_nano_usd_per_million        bigint not null,
  cached_input_nano_usd_per_million bigint not null,
  output_nano_usd_per_million       bigint not null,
  reasoning_nano_usd_per_million    bigint not null,
  image_nano_usd_per_million        bigint not null,
  -- The UTC day of admission, whose budget it counts against.
  day                               date not null,
  created_unix_ms                   bigint not null,
  deadline_unix_ms                  bigint not null,
  idempotency_scope                 text collate "C",
  constraint open_holds_amounts_are_not_negative check (
    least(
      amount_nano_usd, input_nano_usd_per_million, cached_input_nano_usd_per_million,
      output_nano_usd_per_million, reasoning_nano_usd_per_million, image_nano_usd_per_million
    ) >= 0
  )
  -- Its rows are written once and soon deleted: vacuumed often and quickly, it stays as small as the open holds.
) with (
  autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 1000, autovacuum_vacuum_cost_delay = 0,
  autovacuum_analyze_scale_factor = 0, autovacuum_analyze_threshold = 10000
);

-- For the reaper of overdue holds.
create index open_holds_by_deadline on open_holds (deadline_unix_ms);

-- Partitioned by time, in the order of hold ids, and deleted a partition at a
-- time. A client that gets no response to its hold voids it, and the void may
-- arrive first: it leaves a hold that was given up, so that the id is never taken.
create table closed_holds (
  hold_id                           text collate "C" primary key,
  organization_id                   text collate "C" not null,
  key_id                            text collate "C" not null,
  state                             text collate "C" not null,
  amount_nano_usd                   bigint not null,
  input_nano_usd_per_million        bigint not null,
  cached_input_nano_usd_per_million bigint not null,
  output_nano_usd_per_million       bigint not null,
  reasoning_nano_usd_per_million    bigint not null,
  image_nano_usd_per_million        bigint not null,
  day                               date not null,
  created_unix_ms                   bigint not null,
  deadline_unix_ms                  bigint not null,
  idempotency_scope                 text collate "C",
  closed_unix_ms                    bigint not null,
  cost_nano_usd                     bigint,
  charged_nano_usd                  bigint,
  constraint closed_holds_amounts_are_not_negative check (
    least(
      amount_nano_usd, input_nano_usd_per_million, cached_input_nano_usd_per_million,
      output_nano_usd_per_million, reasoning_nano_usd_per_million, image_nano_usd_per_million
    ) >= 0
  ),
  constraint closed_holds_are_whole check (
    case state
      when 'voided' then cost_nano_usd is null and charged_nano_usd is null
      when 'given_up' then cost_nano_usd is null and charged_nano_usd is null and amount_nano_usd = 0
      when 'settled' then coalesce(charged_nano_usd between 0 and cost_nano_usd, false)
      else false
    end
  )
) partition by range (hold_id);

-- Ids of any other form, which are never deleted, and those written before their partition exists.
create table closed_holds_default partition of closed_holds default;

-- Closed holds with smaller ids than this one were deleted with their partitions.
-- Such an id that is not open counts as given up, so nothing is ever held or
-- settled under it again.
create table closed_hold_retention (
  is_the_only_row    boolean primary key default true check (is_the_only_row),
  first_kept_hold_id text collate "C" not null
);

insert into closed_hold_retention (first_kept_hold_id) values ('gen-');

-- All holds that are known, for reports and audits; no request reads it.
create view holds as
select
  hold_id, organization_id, key_id, 'held' collate "C" as state, amount_nano_usd,
  input_nano_usd_per_million, cached_input_nano_usd_per_million, output_nano_usd_per_million,
  reasoning_nano_usd_per_million, image_nano_usd_per_million,
  day, created_unix_ms, deadline_unix_ms, idempotency_scope,
  null::bigint as closed_unix_ms, null::bigint as cost_nano_usd, null::bigint as charged_nano_usd
from open_holds
union all
select
  hold_id, organization_id, key_id, state, amount_nano_usd,
  input_nano_usd_per_million, cached_input_nano_usd_per_million, output_nano_usd_per_million,
  reasoning_nano_usd_per_million, image_nano_usd_per_million,
  day, created_unix_ms, deadline_unix_ms, idempotency_scope,
  closed_unix_ms, cost_nano_usd, charged_nano_usd
from closed_holds;

create table daily_spend (
  organization_id text collate "C" not null,
  day             date not null,
  -- Empty for the organization as a whole.
  key_id          text collate "C" not null,
  spent_nano_usd  bigint not null default 0,
  held_nano_usd   bigint not null default 0,
  primary key (organization_id, day, key_id),
  constraint daily_spend_is_never_negative check (least(spent_nano_usd, held_nano_usd) >= 0)
) with (fillfactor = 50, autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 1000);

-- Claims of Idempotency-Keys. Settlement completes and releases claims after it
-- has locked the accounts; the functions that only claim, renew, release or trim
-- lock no account.
create table idempotency_claims (
  scope                  text collate "C" primary key,
  organization_id        text collate "C" not null,
  body_sha256            bytea not null,
  -- The generation that runs the request, or ran it last; once completed, the one whose response is stored.
  generation_id          text collate "C" not null,
  -- All that claimed it for this body: the first of them that settles stores its response.
  generation_ids         text[] not null,
  -- running, released (free for any request, also with another body) or completed.
  state                  text collate "C" not null,
  lease_ends_unix_ms     bigint not null,
  retained_until_unix_ms bigint not null,
  response_json          bytea,
  constraint claims_are_whole check (
    case state
      when 'running' then response_json is null
      when 'released' then response_json is null
      when 'completed' then response_json is not null
      else false
    end
  )
);

create index idempotency_claims_by_retention on idempotency_claims (retained_until_unix_ms);

-- Sums of the postings of past days, so that the balance at the start of a month
-- costs the same however much was posted before. Computed at the first request
-- for them; days without postings have no row.
create table statement_days (
  organization_id    text collate "C" not null,
  day                date not null,
  added_nano_usd     bigint not null,
  corrected_nano_usd bigint not null,
  used_nano_usd      bigint not null,
  primary key (organization_id, day)
);

-- The time up to which the days of an organization are summed.
create table statement_progress (
  organization_id      text collate "C" primary key,
  summed_until_unix_ms bigint not null
);

-- When a low balance is reported, and to which receivers.
create table credit_alerts (
  organization_id       text collate "C" primary key,
  threshold_nano_usd    bigint check (threshold_nano_usd > 0),
  webhook_url           text,
  webhook_secret        text,
  emails                text[] not null,
  -- Since when the available amount is below the threshold.
  below_since_unix_ms   bigint,
  -- Whether the alert was delivered since then, and the number of attempts.
  delivered             boolean not null default false,
  attempts              integer not null default 0,
  next_attempt_unix_ms  bigint not null default 0,
  last_sent_unix_ms     bigint,
  last_failure          text
);

-- The ledger compares itself with its postings, a few organizations at a time.
-- Sums are kept, so that a comparison reads only the postings since the last one.
-- This holds sums of an organization's postings that were posted before a time.
create table reconciliation_sums (
  organization_id      text collate "C" primary key,
  before_unix_ms       bigint not null,
  credit_nano_usd      numeric not null,
  held_nano_usd        numeric not null,
  revenue_nano_usd     numeric not null,
  uncollected_nano_usd numeric not null,
  funding_nano_usd     numeric not null
);

-- The position of the current round through all organizations.
create table reconciliation_progress (
  is_the_only_row          boolean primary key default true check (is_the_only_row),
  -- Empty at the start of a round.
  after_organization_id    text collate "C" not null default '',
  round_began_unix_ms      bigint not null default 0,
  -- When the last whole round started: every difference from before has been found. Zero before the first.
  reconciled_until_unix_ms bigint not null default 0,
  last_run_unix_ms         bigint not null default 0
);

-- Differences between the ledger and its postings, kept for as long as they exist.
create table reconciliation_differences (
  organization_id    text collate "C" not null,
  kind               text collate "C" not null,
  -- The generation of a settlement; empty for a difference of the whole organization.
  reference          text collate "C" not null,
  -- The amount by the postings, and the stored amount that should equal it.
  expected_nano_usd  numeric not null,
  found_nano_usd     numeric not null,
  first_seen_unix_ms bigint not null,
  last_seen_unix_ms  bigint not null,
  primary key (organization_id, kind, reference)
);

-- The ledger reports its settlements to the usage domain, an organization and
-- some whole hours at a time, so that the two can be compared. This is the time
-- up to which an organization's settlements were reported.
create table settlements_told (
  organization_id text collate "C" primary key,
  until_unix_ms   bigint not null
);

-- The position of the current round through all organizations.
create table settlements_told_progress (
  is_the_only_row       boolean primary key default true check (is_the_only_row),
  -- Empty at the start of a round.
  after_organization_id text collate "C" not null default ''
);
