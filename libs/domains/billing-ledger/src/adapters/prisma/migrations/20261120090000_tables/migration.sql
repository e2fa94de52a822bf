-- Amounts are nano-dollars, times are milliseconds since 1970. Identifiers
-- compare by bytes, so that every process locks rows in the same order. Checks
-- are few and wide, since each is prepared anew by every statement that writes.

-- Rewritten by every batch of an organization: room on the page lets each
-- rewrite stay on it, and early vacuuming keeps the chains of versions short.
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
-- hold is taken once, settled once and voided once: the primary key says so.
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
);

create table credits (
  credit_id       text collate "C" primary key,
  organization_id text collate "C" not null,
  amount_nano_usd bigint not null check (amount_nano_usd > 0),
  note            text not null,
  added_unix_ms   bigint not null
);

create index credits_by_organization on credits (organization_id, added_unix_ms);

create table holds (
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
  -- The UTC day of admission, whose budget it counts against.
  day                               date not null,
  created_unix_ms                   bigint not null,
  deadline_unix_ms                  bigint not null,
  idempotency_scope                 text collate "C",
  closed_unix_ms                    bigint,
  cost_nano_usd                     bigint,
  charged_nano_usd                  bigint,
  constraint holds_amounts_are_not_negative check (
    least(
      amount_nano_usd, input_nano_usd_per_million, cached_input_nano_usd_per_million,
      output_nano_usd_per_million, reasoning_nano_usd_per_million, image_nano_usd_per_million
    ) >= 0
  ),
  constraint holds_are_whole check (
    case state
      when 'held' then closed_unix_ms is null and cost_nano_usd is null and charged_nano_usd is null
      when 'voided' then closed_unix_ms is not null and cost_nano_usd is null and charged_nano_usd is null
      when 'settled' then
        closed_unix_ms is not null
        and coalesce(charged_nano_usd between 0 and cost_nano_usd, false)
      else false
    end
  )
);

-- What the reaper looks through: open holds only.
create index holds_open_by_deadline on holds (deadline_unix_ms) where state = 'held';

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

create table idempotency_claims (
  scope                  text collate "C" primary key,
  organization_id        text collate "C" not null,
  body_sha256            bytea not null,
  -- Who runs the request, or last did; once completed, who answered it.
  generation_id          text collate "C" not null,
  -- All who claimed it for this body: whichever of them settles first answers.
  generation_ids         text[] not null,
  -- running, released (free for anyone, also with another body) or completed.
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
