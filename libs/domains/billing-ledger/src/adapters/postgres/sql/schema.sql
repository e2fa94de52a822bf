-- The tables of the schema billing_ledger in version 0.1.0. Its functions are in
-- functions/, one per file; later changes are in migrations/.
--
-- Amounts are nano-dollars, times are milliseconds since 1970. Identifiers
-- compare by bytes, so that every process locks rows in the same order. Checks
-- are few and wide, because PostgreSQL prepares every check for every writing statement.
--
-- Every function that moves money works on a whole batch and starts with
-- lock_accounts, or is called by functions that do. That one order of locking keeps
-- overlapping batches from deadlocking: nothing else may be locked before the accounts. The planner
-- settings of the functions pin plans to primary-key lookups: without them a
-- plan from when a table was small would scan it fully once it is large.

-- Every batch of an organization updates its row: free space on the page allows
-- HOT updates, and early vacuuming keeps the version chains short.
create table accounts (
  organization_id      text collate "C" primary key,
  -- Total credit added.
  credited_nano_usd    bigint not null default 0,
  available_nano_usd   bigint not null default 0,
  held_nano_usd        bigint not null default 0,
  -- Total amount paid.
  charged_nano_usd     bigint not null default 0,
  -- Cost that neither the balance nor the budget of the run could cover.
  uncollected_nano_usd bigint not null default 0,
  constraint accounts_are_never_negative check (
    least(credited_nano_usd, available_nano_usd, held_nano_usd, charged_nano_usd, uncollected_nano_usd) >= 0
  ),
  constraint accounts_add_up
    check (credited_nano_usd = available_nano_usd + held_nano_usd + charged_nano_usd)
) with (fillfactor = 50, autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 1000);

-- One row per movement of money and one column per ledger account: an entry
-- without its counter-entries cannot be written. A credit is posted once, and a
-- hold is placed once, settled once and voided once: the primary key ensures it.
-- The reference of an extension is the hold's id, a plus sign and the new amount,
-- so that it is posted once, too.
--
-- Postings are never deleted, so they are partitioned by time: no process writes
-- to the old tables. The partition key is the reference. A hold's id starts with
-- the time of its creation, so ids sort by time, and the primary key covers all
-- partitions together, which a key that includes the time of posting could not.
create table postings (
  reference            text collate "C" not null,
  kind                 text collate "C" not null check (kind in ('credit', 'hold', 'extension', 'settlement', 'void')),
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

-- References in any other format, and those written before their partition exists.
create table postings_default partition of postings default;
create table postings_of_credits partition of postings for values from ('crd-') to ('crd.');

-- For an organization's statement, ordered by time.
create index postings_by_organization on postings (organization_id, posted_unix_ms, reference, kind);

-- A correction is a negative credit: it moves the same columns in the other
-- direction, and never more than is available.
create table credits (
  credit_id       text collate "C" primary key,
  organization_id text collate "C" not null,
  amount_nano_usd bigint not null,
  note            text not null,
  added_unix_ms   bigint not null,
  constraint credits_are_not_zero check (amount_nano_usd <> 0)
);

create index credits_by_organization on credits (organization_id, added_unix_ms);

-- Corrections that an operator has previewed. A confirmed one becomes the credit with the same id.
create table previewed_corrections (
  correction_id   text collate "C" primary key,
  organization_id text collate "C" not null,
  -- The amount to deduct.
  amount_nano_usd bigint not null check (amount_nano_usd > 0),
  note            text not null,
  expires_unix_ms bigint not null
);

create index previewed_corrections_by_expiry on previewed_corrections (expires_unix_ms);

-- Open holds have a small table of their own, so that the latency of a request
-- does not grow with history. A hold that closes moves to closed_holds.
--
-- A hold id is used once: every id is first inserted into open_holds, even when
-- the same transaction closes it, and the inserting function then checks
-- closed_holds. The two primary keys together guarantee uniqueness.
create table open_holds (
  hold_id            text collate "C" primary key,
  organization_id    text collate "C" not null,
  key_id             text collate "C" not null,
  amount_nano_usd    bigint not null,
  -- The frozen prices of the request, as the text of encodePrices.
  prices             text collate "C" not null,
  -- The UTC day of admission, whose budget it counts against.
  day                date not null,
  created_unix_ms    bigint not null,
  deadline_unix_ms   bigint not null,
  idempotency_scope  text collate "C",
  run_id             text collate "C",
  -- The project of the key when the request was admitted.
  project_id         text collate "C",
  -- The UTC hour of admission, and the counters of budget_hours that it counts in; null without.
  counted_hour       timestamp,
  counters           text[],
  constraint open_holds_amounts_are_not_negative check (amount_nano_usd >= 0)
  -- Rows are short-lived: frequent vacuuming without a cost delay keeps the table as small as the open holds.
) with (
  autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 1000, autovacuum_vacuum_cost_delay = 0,
  autovacuum_analyze_scale_factor = 0, autovacuum_analyze_threshold = 10000
);

-- For the reaper of overdue holds.
create index open_holds_by_deadline on open_holds (deadline_unix_ms);

-- Partitioned by time, in the order of hold ids, and deleted one partition at a
-- time. A client that gets no response to its hold voids it, and the void may
-- arrive first: it then stores an abandoned hold, so that the id is never used.
create table closed_holds (
  hold_id            text collate "C" primary key,
  organization_id    text collate "C" not null,
  key_id             text collate "C" not null,
  state              text collate "C" not null,
  amount_nano_usd    bigint not null,
  -- The frozen prices of the request, as the text of encodePrices; empty for an abandoned hold.
  prices             text collate "C" not null,
  day                date not null,
  created_unix_ms    bigint not null,
  deadline_unix_ms   bigint not null,
  idempotency_scope  text collate "C",
  run_id             text collate "C",
  -- The project of the key when the request was admitted.
  project_id         text collate "C",
  counted_hour       timestamp,
  counters           text[],
  closed_unix_ms     bigint not null,
  cost_nano_usd      bigint,
  charged_nano_usd   bigint,
  constraint closed_holds_amounts_are_not_negative check (amount_nano_usd >= 0),
  constraint closed_holds_are_consistent check (
    case state
      when 'voided' then cost_nano_usd is null and charged_nano_usd is null
      when 'abandoned' then cost_nano_usd is null and charged_nano_usd is null and amount_nano_usd = 0
      when 'settled' then coalesce(charged_nano_usd between 0 and cost_nano_usd, false)
      else false
    end
  )
) partition by range (hold_id);

-- Ids in any other format, which are never deleted, and those written before their partition exists.
create table closed_holds_default partition of closed_holds default;

-- Closed holds with smaller ids than this one were deleted with their partitions.
-- Such an id that is not open counts as abandoned, so nothing is ever held or
-- settled under it again.
create table closed_hold_retention (
  is_the_only_row         boolean primary key default true check (is_the_only_row),
  oldest_retained_hold_id text collate "C" not null,
  -- The time in that id.
  oldest_retained_unix_ms bigint not null default 0
);

insert into closed_hold_retention (oldest_retained_hold_id) values ('gen-');

-- All stored holds, for reports and audits; no request reads it.
create view holds as
select
  hold_id, organization_id, key_id, 'held' collate "C" as state, amount_nano_usd, prices,
  day, created_unix_ms, deadline_unix_ms, idempotency_scope, run_id, project_id,
  null::bigint as closed_unix_ms, null::bigint as cost_nano_usd, null::bigint as charged_nano_usd
from open_holds
union all
select
  hold_id, organization_id, key_id, state, amount_nano_usd, prices,
  day, created_unix_ms, deadline_unix_ms, idempotency_scope, run_id, project_id,
  closed_unix_ms, cost_nano_usd, charged_nano_usd
from closed_holds;

-- What an organization and each of its keys and projects have spent and hold: one
-- row per UTC day of admission, and for a key or project one row for all days. A week or
-- month is the sum of its days; all days of an organization are in its account.
create table budget_accounts (
  organization_id text collate "C" not null,
  -- A key or a project; empty for the organization as a whole.
  owner_id        text collate "C" not null,
  -- 'infinity' for all days.
  day             date not null,
  spent_nano_usd  bigint not null default 0,
  held_nano_usd   bigint not null default 0,
  primary key (organization_id, owner_id, day),
  constraint budget_accounts_are_never_negative check (least(spent_nano_usd, held_nano_usd) >= 0)
) with (fillfactor = 50, autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 1000);

-- What counts against budgets that the accounts of their owners do not show: those of rolling windows, of some models,
-- and of single end users. By UTC hour of admission. Only holds that were placed while such a budget applied have rows.
create table budget_hours (
  organization_id text collate "C" not null,
  -- A key or a project, empty for the organization; with the models or the end user that it counts. One that starts
  -- with an asterisk counts all time.
  counter         text collate "C" not null,
  -- 'infinity' for what is held, which counts in every period; '-infinity' for all time.
  hour            timestamp not null,
  spent_nano_usd  bigint not null default 0,
  held_nano_usd   bigint not null default 0,
  primary key (organization_id, counter, hour),
  constraint budget_hours_are_never_negative check (least(spent_nano_usd, held_nano_usd) >= 0)
) with (fillfactor = 50, autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 1000);

-- For the deletion of hours that no period reaches.
create index budget_hours_by_hour on budget_hours (hour);

-- The most that an owner may spend in a period.
create type budget as (
  organization_id text collate "C",
  -- run, end_user, key, project or organization.
  scope           text collate "C",
  -- Empty for the organization; the key of an end user.
  owner_id        text collate "C",
  -- As in budget_periods.
  period          text collate "C",
  amount_nano_usd bigint,
  -- The length of a rolling window.
  hours           integer,
  -- The id of a model, or a pattern of ids; null: all models.
  model           text collate "C",
  -- Its counter in budget_hours; null: the accounts of its owner.
  counter         text collate "C"
);

-- Why the hold or extension at a position of its batch is refused, and the amounts that the refusal is based on.
create type hold_decision as (
  position           integer,
  outcome            text,
  available_nano_usd bigint,
  budget_scope       text,
  budget_period      text,
  budget_nano_usd    bigint,
  used_nano_usd      bigint,
  held_nano_usd      bigint,
  -- The length of a rolling window, and when enough has left it if nothing else is spent; null if that is never.
  budget_hours       integer,
  frees_unix_ms      bigint,
  budget_model       text
);

-- Runs: requests of an organization that share a budget of their own. A run is
-- created by its first hold, which fixes its budget, and deleted with its last hold.
create table runs (
  organization_id   text collate "C" not null,
  run_id            text collate "C" not null,
  budget_nano_usd   bigint not null,
  spent_nano_usd    bigint not null default 0,
  held_nano_usd     bigint not null default 0,
  created_unix_ms   bigint not null,
  last_held_unix_ms bigint not null,
  primary key (organization_id, run_id),
  -- Holds stay within the budget; a charge above its hold may exceed it.
  constraint runs_never_negative check (least(spent_nano_usd, held_nano_usd) >= 0)
) with (fillfactor = 50, autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 1000);

-- For the deletion of old runs. Not by the time of the last hold, which changes with every hold.
create index runs_by_creation on runs (created_unix_ms);

-- Claims of Idempotency-Keys. Settlement completes and releases claims after it
-- has locked the accounts; the functions that only claim, renew, release or delete
-- lock no account.
create table idempotency_claims (
  scope                  text collate "C" primary key,
  organization_id        text collate "C" not null,
  body_sha256            bytea not null,
  -- The generation that runs the request, or ran it last; once completed, the one whose response is stored.
  generation_id          text collate "C" not null,
  -- All generations that claimed it for this body: the first of them that settles stores its response.
  generation_ids         text[] not null,
  -- running, released (free for any request, also with another body) or completed.
  state                  text collate "C" not null,
  lease_ends_unix_ms     bigint not null,
  retained_until_unix_ms bigint not null,
  -- Encrypts the response in the event log and here. Only this row has it: after its deletion no copy can be read.
  response_key           bytea not null,
  encrypted_response        bytea,
  constraint claims_are_consistent check (
    case state
      when 'running' then encrypted_response is null
      when 'released' then encrypted_response is null
      when 'completed' then encrypted_response is not null
      else false
    end
  )
);

create index idempotency_claims_by_retention on idempotency_claims (retained_until_unix_ms);

-- Sums of the postings of past days, so that the cost of reading the balance at
-- the start of a month does not depend on history. Computed on first use; days
-- without postings have no row.
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
  -- When the available amount fell below the threshold.
  below_since_unix_ms   bigint,
  -- Whether the alert was delivered since then, and the number of attempts.
  delivered             boolean not null default false,
  attempts              integer not null default 0,
  next_attempt_unix_ms  bigint not null default 0,
  last_sent_unix_ms     bigint,
  last_failure          text,
  -- The shares of budgets, in percent, that are reported when spending reaches them.
  budget_shares         integer[] not null default '{80,100}'
);

-- What an organization had been charged when its budgets were last compared with
-- their alerts. They are compared again after another charge.
create table budget_alert_progress (
  organization_id  text collate "C" primary key,
  charged_nano_usd bigint not null,
  checked_unix_ms  bigint not null,
  -- The budgets of end users are compared less often: their hours are many.
  end_users_checked_unix_ms bigint not null default 0
);

-- Each share of a budget that spending has reached in a period, once. Another amount
-- is another budget.
create table budget_alerts (
  -- Made of the other columns up to share_percent.
  alert_id        text collate "C" primary key,
  organization_id text collate "C" not null,
  -- A key or a project; empty for the organization.
  owner_id        text collate "C" not null,
  -- As in budget_periods.
  period          text collate "C" not null,
  -- The length of a rolling window.
  hours           integer,
  -- The models that count: an id, or a pattern of ids; null: all.
  model           text collate "C",
  -- The UTC day, the Monday of the week, or the month; the hour from which a window is not reported again; empty for
  -- the total.
  period_start    text collate "C" not null,
  budget_nano_usd bigint not null,
  share_percent   integer not null,
  spent_nano_usd  bigint not null,
  owner_name      text not null,
  reached_unix_ms bigint not null,
  -- Whether it is about end users of the key, who are in budget_alert_end_users. Its id also has the time.
  per_end_user    boolean not null default false
);

create index budget_alerts_by_time on budget_alerts (reached_unix_ms);
create index budget_alerts_by_organization on budget_alerts (organization_id, reached_unix_ms);

-- Each share of a budget that an end user of a key has reached in a period, once. One alert lists many of them.
create table budget_alert_end_users (
  organization_id text collate "C" not null,
  -- The key.
  owner_id        text collate "C" not null,
  -- As in budget_alerts; the hours are 0 for other periods than a window.
  period          text collate "C" not null,
  hours           integer not null,
  period_start    text collate "C" not null,
  budget_nano_usd bigint not null,
  share_percent   integer not null,
  -- Empty for the requests without an end user.
  end_user        text collate "C" not null,
  spent_nano_usd  bigint not null,
  owner_name      text not null,
  reached_unix_ms bigint not null,
  -- The alert that lists the end user; null until there is one.
  alert_id        text collate "C" references budget_alerts on delete cascade,
  primary key (organization_id, owner_id, period, hours, period_start, budget_nano_usd, share_percent, end_user)
);

create index budget_alert_end_users_by_alert on budget_alert_end_users (alert_id);
create index budget_alert_end_users_waiting on budget_alert_end_users (organization_id) where alert_id is null;

-- The recipients of each alert, delivered one by one.
create table budget_alert_deliveries (
  alert_id             text collate "C" not null references budget_alerts on delete cascade,
  -- An email address, or 'webhook'.
  recipient            text not null,
  delivered_unix_ms    bigint,
  attempts             integer not null default 0,
  next_attempt_unix_ms bigint not null default 0,
  primary key (alert_id, recipient)
);

create index budget_alert_deliveries_due on budget_alert_deliveries (next_attempt_unix_ms)
  where delivered_unix_ms is null;

-- Reconciliation compares balances with postings, a few organizations at a time.
-- These are the sums of an organization's postings before a time, so that the
-- next comparison reads only later postings.
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
  round_started_unix_ms      bigint not null default 0,
  -- When the last complete round started: all earlier differences have been found. Zero before the first.
  reconciled_until_unix_ms bigint not null default 0,
  last_run_unix_ms         bigint not null default 0
);

-- Current differences between balances and postings.
create table reconciliation_differences (
  organization_id    text collate "C" not null,
  kind               text collate "C" not null,
  -- The generation of a settlement; empty for a difference in the organization's totals.
  reference          text collate "C" not null,
  -- The amount according to the postings, and the stored amount that should equal it.
  expected_nano_usd  numeric not null,
  found_nano_usd     numeric not null,
  first_seen_unix_ms bigint not null,
  last_seen_unix_ms  bigint not null,
  primary key (organization_id, kind, reference)
);

-- The ledger announces the sums of its settlements to the usage domain, which
-- compares them with its own. A window covers whole hours of one organization.
-- This is the end of the last announced window.
create table announced_settlement_windows (
  organization_id text collate "C" primary key,
  until_unix_ms   bigint not null
);

-- The position of the current round through all organizations.
create table settlement_window_progress (
  is_the_only_row       boolean primary key default true check (is_the_only_row),
  -- Empty at the start of a round.
  after_organization_id text collate "C" not null default ''
);
