-- A correction is a credit below zero: it moves the same columns the other way,
-- and never more than is available.
alter table credits drop constraint credits_amount_nano_usd_check;
alter table credits add constraint credits_are_of_something check (amount_nano_usd <> 0);

-- What somebody looked at before confirming it. Its id becomes the credit's.
create table previewed_corrections (
  correction_id   text collate "C" primary key,
  organization_id text collate "C" not null,
  -- What is taken.
  amount_nano_usd bigint not null check (amount_nano_usd > 0),
  note            text not null,
  expires_unix_ms bigint not null
);

create index previewed_corrections_by_expiry on previewed_corrections (expires_unix_ms);

-- Takes credit back once. Answers 'corrected', also when it was before;
-- 'unknown' without a preview that is still good, 'different' when that was of
-- something else, 'insufficient' when less than nothing would be available.
create function correct_credit(
  p_correction_id text, p_organization_id text, p_amount bigint, p_note text, p_now_unix_ms bigint
) returns text
language plpgsql
as $$
declare
  known previewed_corrections;
begin
  perform lock_accounts(array[p_organization_id]);

  select * into known from previewed_corrections
  where correction_id = p_correction_id collate "C" and organization_id = p_organization_id collate "C";
  if not found then
    return 'unknown';
  end if;
  if known.amount_nano_usd <> p_amount or known.note <> p_note then
    return 'different';
  end if;
  if exists (select from credits where credit_id = p_correction_id collate "C") then
    return 'corrected';
  end if;
  if known.expires_unix_ms < p_now_unix_ms then
    return 'unknown';
  end if;
  if not exists (
    select from accounts
    where organization_id = p_organization_id collate "C" and available_nano_usd >= p_amount
  ) then
    return 'insufficient';
  end if;

  insert into credits (credit_id, organization_id, amount_nano_usd, note, added_unix_ms)
  values (p_correction_id, p_organization_id, -p_amount, p_note, p_now_unix_ms);
  insert into postings (reference, kind, organization_id, posted_unix_ms, credit_nano_usd, funding_nano_usd)
  values (p_correction_id, 'credit', p_organization_id, p_now_unix_ms, -p_amount, p_amount);
  update accounts
  set
    credited_nano_usd = credited_nano_usd - p_amount,
    available_nano_usd = available_nano_usd - p_amount
  where organization_id = p_organization_id collate "C";
  return 'corrected';
end
$$;

-- Sums of the postings of days that are over, so that the balance at the turn
-- of a month costs the same however much was posted before. Worked out when
-- somebody first asks; days without postings have no row.
create table statement_days (
  organization_id    text collate "C" not null,
  day                date not null,
  added_nano_usd     bigint not null,
  corrected_nano_usd bigint not null,
  used_nano_usd      bigint not null,
  primary key (organization_id, day)
);

-- Up to which moment the days of an organization are summed up.
create table statement_progress (
  organization_id text collate "C" primary key,
  summed_until_unix_ms bigint not null
);

-- When and whom a low balance is told to.
create table credit_alerts (
  organization_id       text collate "C" primary key,
  threshold_nano_usd    bigint check (threshold_nano_usd > 0),
  webhook_url           text,
  webhook_secret        text,
  emails                text[] not null,
  -- Since when the available amount is below the threshold.
  below_since_unix_ms   bigint,
  -- Told of it since; and how often it was tried.
  delivered             boolean not null default false,
  attempts              integer not null default 0,
  next_attempt_unix_ms  bigint not null default 0,
  last_sent_unix_ms     bigint,
  last_failure          text
);
