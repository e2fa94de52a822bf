-- Open holds are in a small table of their own, so that nothing that a request
-- waits for grows with history. What is closed moves to a table that is
-- partitioned by time, in the order of hold ids, and leaves it a partition at a
-- time.
--
-- One id, one hold: every id enters through open_holds, also when it is closed
-- in the same transaction, and whoever has entered it looks in closed_holds
-- afterwards. The two primary keys together then guarantee what one did.
--
-- The functions keep their arguments: the version before calls these too.

lock table accounts, holds in access exclusive mode;

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
  -- Its rows are written once and soon deleted: often and quickly vacuumed it stays as small as what is open.
) with (
  autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 1000, autovacuum_vacuum_cost_delay = 0,
  autovacuum_analyze_scale_factor = 0, autovacuum_analyze_threshold = 10000
);

with opened as (delete from holds where state = 'held' returning *)
insert into open_holds
select
  hold_id, organization_id, key_id, amount_nano_usd,
  input_nano_usd_per_million, cached_input_nano_usd_per_million, output_nano_usd_per_million,
  reasoning_nano_usd_per_million, image_nano_usd_per_million,
  day, created_unix_ms, deadline_unix_ms, idempotency_scope
from opened;

-- What the reaper looks through.
create index open_holds_by_deadline on open_holds (deadline_unix_ms);

alter table holds rename to holds_before;
alter table holds_before rename constraint holds_pkey to holds_before_pkey;
drop index holds_open_by_deadline;
alter table holds_before drop constraint holds_are_whole;
alter table holds_before alter column closed_unix_ms set not null;
alter table holds_before add constraint closed_holds_are_whole check (
  case state
    when 'voided' then cost_nano_usd is null and charged_nano_usd is null
    when 'given_up' then cost_nano_usd is null and charged_nano_usd is null and amount_nano_usd = 0
    when 'settled' then coalesce(charged_nano_usd between 0 and cost_nano_usd, false)
    else false
  end
);

create table closed_holds (like holds_before including defaults including constraints) partition by range (hold_id);
alter table closed_holds add primary key (hold_id);

-- Ids of any other form, which are never forgotten, and those that come before their partition was made.
create table closed_holds_default partition of closed_holds default;

-- What there is becomes the first partition, in place; it ends tonight.
do $$
declare
  last_day date := (now() at time zone 'UTC')::date + 1;
  cutoff text := least_id_at('gen', (extract(epoch from last_day::timestamp at time zone 'UTC') * 1000)::bigint);
  name text := 'closed_holds_until_' || to_char(last_day, 'YYYYMMDD');
begin
  if not exists (select from holds_before) then
    drop table holds_before;
    return;
  end if;

  with others as (
    delete from holds_before where hold_id < 'gen-' or hold_id >= cutoff returning *
  )
  insert into closed_holds select * from others;

  execute format('alter table holds_before rename to %I', name);
  execute format('alter table closed_holds attach partition %I for values from (%L) to (%L)', name, 'gen-', cutoff);
end
$$;

-- Holds whose ids come before this one are forgotten once they are closed:
-- their partitions were dropped. An id from then that is not open counts as
-- given up, so nothing is ever held or settled under it again.
create table closed_hold_retention (
  is_the_only_row    boolean primary key default true check (is_the_only_row),
  first_kept_hold_id text collate "C" not null
);

insert into closed_hold_retention (first_kept_hold_id) values ('gen-');

-- All holds that are known, for whoever reads.
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

-- Whoever has entered ids into open_holds calls this before anything else is
-- done with them. Another organization may have closed the same id since it was
-- looked up; the batch is then repeated, and finds it.
create function assert_never_closed(p_hold_ids text[]) returns void
language plpgsql
set plan_cache_mode = force_generic_plan set enable_seqscan = off set enable_hashjoin = off set enable_mergejoin = off
as $$
declare
  known_id text;
begin
  select hold.hold_id
  into known_id
  from unnest(p_hold_ids) as entered (hold_id)
  join closed_holds hold on hold.hold_id = entered.hold_id collate "C"
  limit 1;
  if found then
    raise unique_violation using message = format('hold %s is closed', known_id);
  end if;
end
$$;

-- Decides each hold on its own in the order given: a refused one takes nothing,
-- so a smaller one behind it may still pass. Hold ids within a call differ.
-- A hold that exists answers 'held' again while it is open, 'closed' once it was
-- settled, voided, given up or forgotten, and 'foreign' to another organization:
-- nothing may run on what is no longer held.
create or replace function hold_credit(
  p_hold_ids text[],
  p_organization_ids text[],
  p_key_ids text[],
  p_amounts bigint[],
  p_input_prices bigint[],
  p_cached_input_prices bigint[],
  p_output_prices bigint[],
  p_reasoning_prices bigint[],
  p_image_prices bigint[],
  p_organization_budgets bigint[],
  p_key_budgets bigint[],
  p_days date[],
  p_created_unix_ms bigint[],
  p_deadlines_unix_ms bigint[],
  p_idempotency_scopes text[],
  p_now_unix_ms bigint
) returns table (outcome text, available_nano_usd bigint, used_nano_usd bigint)
language plpgsql
set plan_cache_mode = force_generic_plan set enable_seqscan = off set enable_hashjoin = off set enable_mergejoin = off
as $$
#variable_conflict use_column
declare
  item record;
  size integer := cardinality(p_hold_ids);
  accepted boolean[] := array_fill(false, array[size]);
  accepted_ids text[] := '{}';
  -- Taken so far in this batch, by the position of the first item of the same
  -- organization, organization and day, key and day.
  taken_by_organization bigint[] := array_fill(0::bigint, array[size]);
  taken_by_organization_day bigint[] := array_fill(0::bigint, array[size]);
  taken_by_key_day bigint[] := array_fill(0::bigint, array[size]);
  amount_left bigint;
  organization_used bigint;
  key_used bigint;
begin
  perform lock_accounts(p_organization_ids);

  for item in
    select
      wanted.position::integer as position, wanted.hold_id, wanted.organization_id, wanted.amount,
      wanted.organization_budget, wanted.key_budget,
      account.available_nano_usd as available,
      coalesce(of_organization.spent_nano_usd + of_organization.held_nano_usd, 0) as organization_used,
      coalesce(of_key.spent_nano_usd + of_key.held_nano_usd, 0) as key_used,
      coalesce(open.organization_id, closed.organization_id) as known_organization_id,
      open.hold_id is null as is_not_open,
      wanted.hold_id collate "C" >= 'gen-'
        and wanted.hold_id collate "C" < retention.first_kept_hold_id as is_forgotten,
      (min(wanted.position) over (partition by wanted.organization_id))::integer as organization_slot,
      (min(wanted.position) over (partition by wanted.organization_id, wanted.day))::integer as organization_day_slot,
      (min(wanted.position) over (partition by wanted.organization_id, wanted.day, wanted.key_id))::integer as key_day_slot
    from unnest(
        p_hold_ids, p_organization_ids, p_key_ids, p_amounts, p_organization_budgets, p_key_budgets, p_days
      ) with ordinality as wanted (
        hold_id, organization_id, key_id, amount, organization_budget, key_budget, day, position
      )
    cross join closed_hold_retention retention
    join accounts account on account.organization_id = wanted.organization_id collate "C"
    left join daily_spend of_organization
      on of_organization.organization_id = wanted.organization_id collate "C"
      and of_organization.day = wanted.day and of_organization.key_id = ''
    left join daily_spend of_key
      on of_key.organization_id = wanted.organization_id collate "C"
      and of_key.day = wanted.day and of_key.key_id = wanted.key_id collate "C"
    left join open_holds open on open.hold_id = wanted.hold_id collate "C"
    left join closed_holds closed on closed.hold_id = wanted.hold_id collate "C"
    order by wanted.position
  loop
    outcome := 'held';
    available_nano_usd := null;
    used_nano_usd := null;

    if item.known_organization_id <> item.organization_id then
      outcome := 'foreign';
      return next;
      continue;
    end if;

    if item.known_organization_id is not null or item.is_forgotten then
      if item.is_not_open then
        outcome := 'closed';
      end if;
      return next;
      continue;
    end if;

    amount_left := item.available - taken_by_organization[item.organization_slot];
    if amount_left < item.amount then
      outcome := 'insufficient_credits';
      available_nano_usd := amount_left;
      return next;
      continue;
    end if;

    if item.key_budget is not null then
      key_used := item.key_used + taken_by_key_day[item.key_day_slot];
      if item.key_budget - key_used < item.amount then
        outcome := 'key_budget_exceeded';
        used_nano_usd := key_used;
        return next;
        continue;
      end if;
    end if;

    if item.organization_budget is not null then
      organization_used := item.organization_used + taken_by_organization_day[item.organization_day_slot];
      if item.organization_budget - organization_used < item.amount then
        outcome := 'organization_budget_exceeded';
        used_nano_usd := organization_used;
        return next;
        continue;
      end if;
    end if;

    accepted[item.position] := true;
    accepted_ids := accepted_ids || item.hold_id;
    taken_by_organization[item.organization_slot] := taken_by_organization[item.organization_slot] + item.amount;
    taken_by_organization_day[item.organization_day_slot] :=
      taken_by_organization_day[item.organization_day_slot] + item.amount;
    taken_by_key_day[item.key_day_slot] := taken_by_key_day[item.key_day_slot] + item.amount;
    return next;
  end loop;

  if cardinality(accepted_ids) = 0 then
    return;
  end if;

  with taken as materialized (
    select *
    from unnest(
        p_hold_ids, p_organization_ids, p_key_ids, p_amounts,
        p_input_prices, p_cached_input_prices, p_output_prices, p_reasoning_prices, p_image_prices,
        p_days, p_created_unix_ms, p_deadlines_unix_ms, p_idempotency_scopes, accepted
      ) as wanted (
        hold_id, organization_id, key_id, amount,
        input_price, cached_input_price, output_price, reasoning_price, image_price,
        day, created_unix_ms, deadline_unix_ms, idempotency_scope, is_accepted
      )
    where wanted.is_accepted
  ),
  new_holds as (
    insert into open_holds (
      hold_id, organization_id, key_id, amount_nano_usd,
      input_nano_usd_per_million, cached_input_nano_usd_per_million, output_nano_usd_per_million,
      reasoning_nano_usd_per_million, image_nano_usd_per_million,
      day, created_unix_ms, deadline_unix_ms, idempotency_scope
    )
    select
      hold_id, organization_id, key_id, amount,
      input_price, cached_input_price, output_price, reasoning_price, image_price,
      day, created_unix_ms, deadline_unix_ms, idempotency_scope
    from taken
  ),
  new_postings as (
    insert into postings (reference, kind, organization_id, posted_unix_ms, credit_nano_usd, held_nano_usd)
    select hold_id, 'hold', organization_id, p_now_unix_ms, -amount, amount
    from taken
  ),
  new_spend as (
    insert into daily_spend as total (organization_id, day, key_id, held_nano_usd)
    select organization_id, day, coalesce(key_id, ''), sum(amount)::bigint
    from taken
    group by grouping sets ((organization_id, day), (organization_id, day, key_id))
    on conflict (organization_id, day, key_id)
      do update set held_nano_usd = total.held_nano_usd + excluded.held_nano_usd
  )
  update accounts account
  set
    available_nano_usd = account.available_nano_usd - batch.amount,
    held_nano_usd = account.held_nano_usd + batch.amount
  from (select organization_id, sum(amount)::bigint as amount from taken group by organization_id) batch
  where account.organization_id = batch.organization_id collate "C";

  perform assert_never_closed(accepted_ids);
end
$$;

-- Gives open holds back in full and returns the ids of those it closed. Closed
-- holds, and those of another organization, are left alone; unknown ones are
-- given up.
create or replace function void_holds(p_hold_ids text[], p_organization_ids text[], p_now_unix_ms bigint)
returns setof text
language plpgsql
set plan_cache_mode = force_generic_plan set enable_seqscan = off set enable_hashjoin = off set enable_mergejoin = off
as $$
declare
  given_up_ids text[];
begin
  -- A hold of these organizations is either taken by now, or waits for this lock and finds the row below.
  perform lock_accounts(p_organization_ids);

  with unknown as (
    insert into open_holds (
      hold_id, organization_id, key_id, amount_nano_usd,
      input_nano_usd_per_million, cached_input_nano_usd_per_million, output_nano_usd_per_million,
      reasoning_nano_usd_per_million, image_nano_usd_per_million,
      day, created_unix_ms, deadline_unix_ms
    )
    select distinct on (named.hold_id)
      named.hold_id, named.organization_id, '', 0, 0, 0, 0, 0, 0,
      (to_timestamp(p_now_unix_ms / 1000.0) at time zone 'UTC')::date, p_now_unix_ms, p_now_unix_ms
    from unnest(p_hold_ids, p_organization_ids) as named (hold_id, organization_id)
    cross join closed_hold_retention retention
    left join open_holds open on open.hold_id = named.hold_id collate "C"
    left join closed_holds closed on closed.hold_id = named.hold_id collate "C"
    where open.hold_id is null and closed.hold_id is null
      and not (named.hold_id collate "C" >= 'gen-' and named.hold_id collate "C" < retention.first_kept_hold_id)
    on conflict do nothing
    returning hold_id
  )
  select array_agg(hold_id) into given_up_ids from unknown;

  if given_up_ids is not null then
    perform assert_never_closed(given_up_ids);

    with given_up as (
      delete from open_holds where hold_id = any (given_up_ids) returning *
    )
    insert into closed_holds (
      hold_id, organization_id, key_id, state, amount_nano_usd,
      input_nano_usd_per_million, cached_input_nano_usd_per_million, output_nano_usd_per_million,
      reasoning_nano_usd_per_million, image_nano_usd_per_million,
      day, created_unix_ms, deadline_unix_ms, closed_unix_ms
    )
    select hold_id, organization_id, key_id, 'given_up', 0, 0, 0, 0, 0, 0,
      day, created_unix_ms, deadline_unix_ms, p_now_unix_ms
    from given_up;
  end if;

  return query
  with opened as (
    delete from open_holds hold
    using (
      select distinct hold_id, organization_id
      from unnest(p_hold_ids, p_organization_ids) as named (hold_id, organization_id)
    ) wanted
    where hold.hold_id = wanted.hold_id collate "C"
      and hold.organization_id = wanted.organization_id collate "C"
    returning hold.*
  ),
  closed as (
    insert into closed_holds (
      hold_id, organization_id, key_id, state, amount_nano_usd,
      input_nano_usd_per_million, cached_input_nano_usd_per_million, output_nano_usd_per_million,
      reasoning_nano_usd_per_million, image_nano_usd_per_million,
      day, created_unix_ms, deadline_unix_ms, idempotency_scope, closed_unix_ms
    )
    select
      hold_id, organization_id, key_id, 'voided', amount_nano_usd,
      input_nano_usd_per_million, cached_input_nano_usd_per_million, output_nano_usd_per_million,
      reasoning_nano_usd_per_million, image_nano_usd_per_million,
      day, created_unix_ms, deadline_unix_ms, idempotency_scope, p_now_unix_ms
    from opened
    returning hold_id, organization_id, key_id, day, amount_nano_usd as amount
  ),
  new_postings as (
    insert into postings (reference, kind, organization_id, posted_unix_ms, credit_nano_usd, held_nano_usd)
    select hold_id, 'void', organization_id, p_now_unix_ms, amount, -amount
    from closed
  ),
  less_spend as (
    update daily_spend total
    set held_nano_usd = total.held_nano_usd - batch.amount
    from (
      select organization_id, day, coalesce(key_id, '') as key_id, sum(amount)::bigint as amount
      from closed
      group by grouping sets ((organization_id, day), (organization_id, day, key_id))
    ) batch
    where total.organization_id = batch.organization_id and total.day = batch.day and total.key_id = batch.key_id
  ),
  returned as (
    update accounts account
    set
      available_nano_usd = account.available_nano_usd + batch.amount,
      held_nano_usd = account.held_nano_usd - batch.amount
    from (select organization_id, sum(amount)::bigint as amount from closed group by organization_id) batch
    where account.organization_id = batch.organization_id
  )
  select closed.hold_id from closed;
end
$$;

-- Voids at most p_limit holds whose deadline has passed; returns their ids.
-- One process at a time: another that comes meanwhile returns nothing.
create or replace function void_overdue_holds(p_now_unix_ms bigint, p_limit integer) returns setof text
language plpgsql
set plan_cache_mode = force_generic_plan set enable_seqscan = off
as $$
declare
  hold_ids text[];
  organization_ids text[];
begin
  if not pg_try_advisory_xact_lock(hashtextextended(current_schema || '.void_overdue_holds', 0)) then
    return;
  end if;

  select array_agg(overdue.hold_id), array_agg(overdue.organization_id)
  into hold_ids, organization_ids
  from (
    select hold_id, organization_id
    from open_holds
    where deadline_unix_ms < p_now_unix_ms
    order by deadline_unix_ms
    limit p_limit
  ) overdue;

  if hold_ids is not null then
    -- It looks at each hold again once the accounts are locked.
    return query select void_holds(hold_ids, organization_ids, p_now_unix_ms);
  end if;
end
$$;

-- Locks the accounts, then the claims, and answers a row per generation in the
-- order given. The hold's columns are null when it is unknown, the claim's when
-- the generation never claimed it for the body that it is now about. A
-- generation that names no claim is looked up under the one of its hold. One
-- whose hold is forgotten is shown as given up.
create or replace function open_settlements(p_generation_ids text[], p_organization_ids text[], p_scopes text[])
returns table (
  available_nano_usd bigint,
  hold_organization_id text,
  hold_state text,
  hold_key_id text,
  hold_amount_nano_usd bigint,
  hold_day text,
  input_nano_usd_per_million bigint,
  cached_input_nano_usd_per_million bigint,
  output_nano_usd_per_million bigint,
  reasoning_nano_usd_per_million bigint,
  image_nano_usd_per_million bigint,
  claim_scope text,
  claim_state text,
  claim_generation_id text
)
language plpgsql
set plan_cache_mode = force_generic_plan set enable_seqscan = off set enable_hashjoin = off set enable_mergejoin = off
as $$
#variable_conflict use_column
begin
  -- A process that stops between these two calls must not keep its locks for long.
  perform set_config('idle_in_transaction_session_timeout', '5s', true);
  perform lock_accounts(p_organization_ids);

  perform from idempotency_claims
  where scope = any (
    array(
      select coalesce(named.scope, open.idempotency_scope, closed.idempotency_scope)
      from unnest(p_generation_ids, p_scopes) as named (generation_id, scope)
      left join open_holds open on open.hold_id = named.generation_id collate "C"
      left join closed_holds closed on closed.hold_id = named.generation_id collate "C"
    )
  )
  order by scope
  for update;

  return query
  select
    account.available_nano_usd,
    coalesce(open.organization_id, closed.organization_id, forgotten.organization_id),
    case when open.hold_id is not null then 'held' else coalesce(closed.state, forgotten.state) end,
    coalesce(open.key_id, closed.key_id, ''),
    coalesce(open.amount_nano_usd, closed.amount_nano_usd, 0),
    coalesce(open.day, closed.day, 'epoch'::date)::text,
    coalesce(open.input_nano_usd_per_million, closed.input_nano_usd_per_million, 0),
    coalesce(open.cached_input_nano_usd_per_million, closed.cached_input_nano_usd_per_million, 0),
    coalesce(open.output_nano_usd_per_million, closed.output_nano_usd_per_million, 0),
    coalesce(open.reasoning_nano_usd_per_million, closed.reasoning_nano_usd_per_million, 0),
    coalesce(open.image_nano_usd_per_million, closed.image_nano_usd_per_million, 0),
    claim.scope,
    claim.state,
    claim.generation_id
  from unnest(p_generation_ids, p_organization_ids, p_scopes) with ordinality
    as wanted (generation_id, organization_id, scope, position)
  join accounts account on account.organization_id = wanted.organization_id collate "C"
  -- Not the view: a join with it would read it whole.
  left join open_holds open on open.hold_id = wanted.generation_id collate "C"
  left join closed_holds closed on closed.hold_id = wanted.generation_id collate "C"
  left join lateral (
    select wanted.organization_id, 'given_up' as state
    from closed_hold_retention retention
    where wanted.generation_id collate "C" >= 'gen-'
      and wanted.generation_id collate "C" < retention.first_kept_hold_id
  ) forgotten on true
  left join idempotency_claims claim
    on claim.scope = coalesce(wanted.scope, open.idempotency_scope, closed.idempotency_scope) collate "C"
    and wanted.generation_id = any (claim.generation_ids)
  order by wanted.position;
end
$$;

-- Books settlements of generations that open_settlements has locked in this
-- transaction; each is in it once. p_releases is what the generation's open
-- hold still bound, zero when it was voided or never taken. Where there was no
-- hold a settled one is written with the prices given, so that the generation
-- is not booked again. All of the batch is booked or nothing.
create or replace function book_settlements(
  p_generation_ids text[],
  p_organization_ids text[],
  p_key_ids text[],
  p_days date[],
  p_created_unix_ms bigint[],
  p_has_hold boolean[],
  p_releases bigint[],
  p_costs bigint[],
  p_charges bigint[],
  p_waived boolean[],
  p_input_prices bigint[],
  p_cached_input_prices bigint[],
  p_output_prices bigint[],
  p_reasoning_prices bigint[],
  p_image_prices bigint[],
  p_now_unix_ms bigint
) returns void
language plpgsql
set plan_cache_mode = force_generic_plan set enable_seqscan = off set enable_hashjoin = off set enable_mergejoin = off
as $$
declare
  closed_count integer;
begin
  if not (true = all (p_has_hold)) then
    -- A hold that was never seen has no row of its day yet, and its id has to enter like any other.
    insert into daily_spend (organization_id, day, key_id)
    select distinct named.organization_id, named.day, subject.key_id
    from unnest(p_organization_ids, p_days, p_key_ids, p_has_hold) as named (organization_id, day, key_id, has_hold),
      lateral (values (''), (named.key_id)) as subject (key_id)
    where not named.has_hold
    on conflict do nothing;

    insert into open_holds (
      hold_id, organization_id, key_id, amount_nano_usd,
      input_nano_usd_per_million, cached_input_nano_usd_per_million, output_nano_usd_per_million,
      reasoning_nano_usd_per_million, image_nano_usd_per_million,
      day, created_unix_ms, deadline_unix_ms
    )
    select
      generation_id, organization_id, key_id, 0,
      input_price, cached_input_price, output_price, reasoning_price, image_price,
      day, created_unix_ms, created_unix_ms
    from unnest(
        p_generation_ids, p_organization_ids, p_key_ids, p_days, p_created_unix_ms, p_has_hold,
        p_input_prices, p_cached_input_prices, p_output_prices, p_reasoning_prices, p_image_prices
      ) as named (
        generation_id, organization_id, key_id, day, created_unix_ms, has_hold,
        input_price, cached_input_price, output_price, reasoning_price, image_price
      )
    where not has_hold;

    perform assert_never_closed(
      array(select id from unnest(p_generation_ids, p_has_hold) as named (id, has_hold) where not has_hold)
    );
  end if;

  with booked as materialized (
    select
      named.*,
      -- What is not collected: the rest of a cost that the balance could not
      -- pay. A waived cost is not owed, so it is neither revenue nor uncollected.
      case when is_waived then 0 else cost end as revenue,
      case when is_waived then 0 else cost - charged end as uncollected
    from unnest(
        p_generation_ids, p_organization_ids, p_key_ids, p_days, p_releases, p_costs, p_charges, p_waived
      ) as named (
        generation_id, organization_id, key_id, day, released, cost, charged, is_waived
      )
  ),
  opened as (
    delete from open_holds hold
    using booked
    where hold.hold_id = booked.generation_id collate "C"
    returning hold.*, booked.cost, booked.charged
  ),
  closed as (
    insert into closed_holds (
      hold_id, organization_id, key_id, state, amount_nano_usd,
      input_nano_usd_per_million, cached_input_nano_usd_per_million, output_nano_usd_per_million,
      reasoning_nano_usd_per_million, image_nano_usd_per_million,
      day, created_unix_ms, deadline_unix_ms, idempotency_scope, closed_unix_ms, cost_nano_usd, charged_nano_usd
    )
    select
      hold_id, organization_id, key_id, 'settled', amount_nano_usd,
      input_nano_usd_per_million, cached_input_nano_usd_per_million, output_nano_usd_per_million,
      reasoning_nano_usd_per_million, image_nano_usd_per_million,
      day, created_unix_ms, deadline_unix_ms, idempotency_scope, p_now_unix_ms, cost, charged
    from opened
    returning hold_id
  ),
  -- Only what binds nothing can have been voided before.
  late as (
    update closed_holds hold
    set state = 'settled', closed_unix_ms = p_now_unix_ms, cost_nano_usd = booked.cost, charged_nano_usd = booked.charged
    from booked
    where hold.hold_id = booked.generation_id collate "C" and booked.released = 0 and hold.state = 'voided'
    returning hold.hold_id
  ),
  new_postings as (
    insert into postings (
      reference, kind, organization_id, posted_unix_ms,
      credit_nano_usd, held_nano_usd, revenue_nano_usd, uncollected_nano_usd
    )
    select
      generation_id, 'settlement', organization_id, p_now_unix_ms,
      released - charged, -released, revenue, -uncollected
    from booked
  ),
  moved_spend as (
    update daily_spend total
    set
      spent_nano_usd = total.spent_nano_usd + batch.charged,
      held_nano_usd = total.held_nano_usd - batch.released
    from (
      select
        organization_id, day, coalesce(key_id, '') as key_id,
        sum(charged)::bigint as charged, sum(released)::bigint as released
      from booked
      group by grouping sets ((organization_id, day), (organization_id, day, key_id))
    ) batch
    where total.organization_id = batch.organization_id collate "C"
      and total.day = batch.day
      and total.key_id = batch.key_id collate "C"
  ),
  moved_money as (
    update accounts account
    set
      available_nano_usd = account.available_nano_usd + batch.released - batch.charged,
      held_nano_usd = account.held_nano_usd - batch.released,
      charged_nano_usd = account.charged_nano_usd + batch.charged,
      uncollected_nano_usd = account.uncollected_nano_usd + batch.uncollected
    from (
      select
        organization_id, sum(released)::bigint as released, sum(charged)::bigint as charged,
        sum(uncollected)::bigint as uncollected
      from booked
      group by organization_id
    ) batch
    where account.organization_id = batch.organization_id collate "C"
  )
  select (select count(*) from closed) + (select count(*) from late) into closed_count;

  -- Two closings of one hold would book it twice; the batch is repeated and finds what was done.
  if closed_count <> cardinality(p_generation_ids) then
    raise unique_violation using message = format(
      '%s of %s holds could be closed', closed_count, cardinality(p_generation_ids)
    );
  end if;
end
$$;
