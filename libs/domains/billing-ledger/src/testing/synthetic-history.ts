import type { Pool } from 'pg';

interface SyntheticHistory {
  readonly generations: number;
  readonly organizations: number;
  readonly fromUnixMs: number;
  readonly untilUnixMs: number;
}

/** Generations with ids of the same millisecond. */
const PER_MOMENT = 500;
const MOMENTS_PER_STATEMENT = 500;

/**
 * $1 first moment, $2 last, $3 milliseconds between moments, $4 start, $5 organizations.
 * Each generation costs 700 of a hold of 1,000.
 */
const FILL = `
  with moment as materialized (
    select number, $4::bigint + number * $3::bigint as at, smallest_id_at('gen', $4::bigint + number * $3::bigint) as prefix
    from generate_series($1::bigint, $2::bigint) as number
  ),
  generation as materialized (
    select prefix || lpad(nth::text, 16, '0') as id, at,
      'org-' || (number * ${PER_MOMENT} + nth) % $5::bigint as organization_id
    from moment, generate_series(1, ${PER_MOMENT}) as nth
  ),
  new_holds as (
    insert into closed_holds (
      hold_id, organization_id, key_id, state, amount_nano_usd, prices,
      day, created_unix_ms, deadline_unix_ms, closed_unix_ms, cost_nano_usd, charged_nano_usd
    )
    select id, organization_id, 'key-' || organization_id, 'settled', 1000, 'input=1 output=1',
      (to_timestamp(at / 1000.0) at time zone 'UTC')::date, at, at + 660000, at + 1000, 700, 700
    from generation
  )
  insert into postings
    (reference, kind, organization_id, posted_unix_ms, credit_nano_usd, held_nano_usd, revenue_nano_usd)
  select id, kind, organization_id, at + later, credit, held, revenue
  from generation,
    (values ('hold', 0, -1000, 1000, 0), ('settlement', 1000, 300, -1000, 700)) as posting (kind, later, credit, held, revenue)`;

const ADD_UP = `
  with spent as (
    insert into budget_accounts (organization_id, owner_id, day, spent_nano_usd)
    select hold.organization_id, account.owner_id, account.day, sum(hold.charged_nano_usd)
    from closed_holds hold cross join lateral budget_accounts_of(hold.key_id, hold.project_id, hold.day) as account
    group by hold.organization_id, account.owner_id, account.day
    returning organization_id, owner_id, spent_nano_usd
  ),
  charged as (
    select organization_id, sum(spent_nano_usd)::bigint as charged from spent where owner_id = '' group by 1
  ),
  funded as (
    insert into accounts (organization_id, credited_nano_usd, available_nano_usd, charged_nano_usd)
    select organization_id, charged + $1::bigint, $1::bigint, charged from charged
    returning organization_id, credited_nano_usd as amount
  ),
  credited as (
    insert into credits select 'crd-' || organization_id, organization_id, amount, 'synthetic', 0 from funded
  )
  insert into postings (reference, kind, organization_id, posted_unix_ms, credit_nano_usd, funding_nano_usd)
  select 'crd-' || organization_id, 'credit', organization_id, 0, amount, -amount from funded`;

/** The final balance of each organization: a million dollars. */
const AVAILABLE_NANO_USD = 1_000_000_000_000_000n;

/**
 * Inserts settled generations directly into the tables of an empty ledger, which
 * is much faster than settling them. The balances are consistent. Partitions for
 * the time span must exist. Needs a pool without a query timeout.
 */
export async function fillLedgerHistory(pool: Pool, history: SyntheticHistory): Promise<void> {
  const { generations, organizations, fromUnixMs, untilUnixMs } = history;
  const moments = Math.ceil(generations / PER_MOMENT);
  const stepMs = Math.floor((untilUnixMs - fromUnixMs) / moments);
  for (let first = 0; first < moments; first += MOMENTS_PER_STATEMENT) {
    const last = Math.min(first + MOMENTS_PER_STATEMENT, moments) - 1;
    await pool.query(FILL, [first, last, stepMs, fromUnixMs, organizations]);
  }
  await pool.query(ADD_UP, [AVAILABLE_NANO_USD]);
  await pool.query('analyze accounts, budget_accounts, postings, closed_holds, open_holds');
}
