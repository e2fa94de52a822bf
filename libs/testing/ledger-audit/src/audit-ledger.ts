import type { ClientBase, Pool, QueryResult } from 'pg';
import { createBooks, type Books } from './books';

/** The result of an audit. The ledger is consistent if `faults` is empty. */
export interface LedgerAudit {
  /** Inconsistencies, as text. */
  readonly faults: readonly string[];
  readonly organizations: number;
  readonly postings: number;
  readonly openHolds: number;
  readonly settledGenerations: number;
  /** Totals over all organizations, in nano-dollars. */
  readonly totals: { readonly credited: bigint; readonly charged: bigint; readonly uncollected: bigint };
}

export interface AuditOptions {
  /** The schema of the ledger's tables. Default "billing_ledger". */
  readonly schema?: string;
}

/** Bounds the result when most of the ledger is inconsistent. */
const MAX_FAULTS = 50;

/**
 * Recomputes balances, budget accounts and runs from postings and holds, and compares them
 * with the stored ones. Shares no code with the ledger, reads one snapshot and
 * changes nothing, so it can run while the ledger is in use.
 */
export async function auditLedger(
  pool: Pool,
  { schema = 'billing_ledger' }: AuditOptions = {},
): Promise<LedgerAudit> {
  if (!/^[a-z_][a-z0-9_]*$/.test(schema)) throw new Error('not the name of a schema');
  const client = await pool.connect();
  try {
    // A read-only transaction blocks nothing, so it may be idle between two fetches.
    await client.query(
      'begin isolation level repeatable read read only; set local idle_in_transaction_session_timeout = 0',
    );
    const books = createBooks();
    const postings = await readPostings(client, schema, books);
    await readRetention(client, schema, books);
    const holds = await readHolds(client, schema, books);
    await readAccounts(client, schema, books);
    await readSpend(client, schema, books);
    await readBudgetHours(client, schema, books);
    await readRuns(client, schema, books);
    await readCredits(client, schema, books);
    await readClaims(client, schema, books);
    const { faults, accounts, totals } = books.close();
    return {
      faults:
        faults.length > MAX_FAULTS
          ? [...faults.slice(0, MAX_FAULTS), `and ${faults.length - MAX_FAULTS} more`]
          : faults,
      organizations: accounts,
      postings,
      openHolds: holds.open,
      settledGenerations: holds.settled,
      totals,
    };
  } finally {
    await client.query('rollback').catch(() => undefined);
    client.release();
  }
}

type Row = Readonly<Record<string, string | null>>;

const ROWS_PER_FETCH = 5_000;

/** Reads every value as text, independently of driver settings. */
async function readAll(client: ClientBase, sql: string, each: (row: Row) => void): Promise<number> {
  let count = 0;
  const fetch = `fetch ${ROWS_PER_FETCH} from audited`;
  // In one query, so that a small table takes one round trip.
  const results: unknown = await client.query(`declare audited no scroll cursor for ${sql}; ${fetch}`);
  let rows = (results as QueryResult<Row>[])[1]?.rows ?? [];
  for (;;) {
    rows.forEach(each);
    count += rows.length;
    if (rows.length < ROWS_PER_FETCH) break;
    ({ rows } = await client.query<Row>(fetch));
  }
  await client.query('close audited');
  return count;
}

function readPostings(client: ClientBase, schema: string, books: Books): Promise<number> {
  const sql = `
    select reference, kind, organization_id as organization, credit_nano_usd::text as credit,
      held_nano_usd::text as held, revenue_nano_usd::text as revenue,
      uncollected_nano_usd::text as uncollected, funding_nano_usd::text as funding
    from ${schema}.postings`;
  return readAll(client, sql, (row) =>
    books.posting({
      reference: text(row, 'reference'),
      kind: text(row, 'kind'),
      organization: text(row, 'organization'),
      credit: amount(row, 'credit'),
      held: amount(row, 'held'),
      revenue: amount(row, 'revenue'),
      uncollected: amount(row, 'uncollected'),
      funding: amount(row, 'funding'),
    }),
  );
}

/** The table has exactly one row. */
function readRetention(client: ClientBase, schema: string, books: Books): Promise<number> {
  const sql = `
    select oldest_retained_hold_id as oldest_retained, ${schema}.now_unix_ms()::text as now
    from ${schema}.closed_hold_retention`;
  return readAll(client, sql, (row) =>
    books.retainedFrom(text(row, 'oldest_retained'), Number(amount(row, 'now'))),
  );
}

async function readHolds(client: ClientBase, schema: string, books: Books) {
  const columns = `hold_id, organization_id as organization, key_id as key, day::text as day, run_id as run,
    project_id as project, amount_nano_usd::text as amount, counted_hour::text as counted_hour,
    to_json(counters)::text as counters`;
  const none = 'null::text as cost, null::text as charged';
  const paid = 'cost_nano_usd::text as cost, charged_nano_usd::text as charged';
  let settled = 0;
  const each = (row: Row) => {
    const state = text(row, 'state');
    if (state === 'settled') settled += 1;
    books.hold({
      id: text(row, 'hold_id'),
      organization: text(row, 'organization'),
      key: text(row, 'key'),
      state,
      day: text(row, 'day'),
      run: row['run'] ?? undefined,
      project: row['project'] ?? undefined,
      countedHour: row['counted_hour'] ?? undefined,
      counters: JSON.parse(row['counters'] ?? '[]') as string[],
      amount: amount(row, 'amount'),
      cost: row['cost'] === null ? undefined : amount(row, 'cost'),
      charged: row['charged'] === null ? undefined : amount(row, 'charged'),
    });
  };
  const openHolds = `select ${columns}, 'held' as state, ${none} from ${schema}.open_holds`;
  const closedHolds = `select ${columns}, state, ${paid} from ${schema}.closed_holds`;
  const open = await readAll(client, openHolds, each);
  await readAll(client, closedHolds, each);
  return { open, settled };
}

function readAccounts(client: ClientBase, schema: string, books: Books): Promise<number> {
  const sql = `
    select organization_id as organization, credited_nano_usd::text as credited,
      available_nano_usd::text as available, held_nano_usd::text as held,
      charged_nano_usd::text as charged, uncollected_nano_usd::text as uncollected
    from ${schema}.accounts`;
  return readAll(client, sql, (row) =>
    books.account({
      organization: text(row, 'organization'),
      credited: amount(row, 'credited'),
      available: amount(row, 'available'),
      held: amount(row, 'held'),
      charged: amount(row, 'charged'),
      uncollected: amount(row, 'uncollected'),
    }),
  );
}

function readSpend(client: ClientBase, schema: string, books: Books): Promise<number> {
  const sql = `
    select organization_id as organization, day::text as day, owner_id as owner,
      spent_nano_usd::text as spent, held_nano_usd::text as held
    from ${schema}.budget_accounts`;
  return readAll(client, sql, (row) =>
    books.spend({
      organization: text(row, 'organization'),
      day: text(row, 'day'),
      owner: text(row, 'owner'),
      spent: amount(row, 'spent'),
      held: amount(row, 'held'),
    }),
  );
}

function readBudgetHours(client: ClientBase, schema: string, books: Books): Promise<number> {
  const sql = `
    select organization_id as organization, counter, hour::text as hour,
      spent_nano_usd::text as spent, held_nano_usd::text as held
    from ${schema}.budget_hours`;
  return readAll(client, sql, (row) =>
    books.budgetHour({
      organization: text(row, 'organization'),
      counter: text(row, 'counter'),
      hour: text(row, 'hour'),
      spent: amount(row, 'spent'),
      held: amount(row, 'held'),
    }),
  );
}

function readRuns(client: ClientBase, schema: string, books: Books): Promise<number> {
  const sql = `
    select organization_id as organization, run_id as run, created_unix_ms::text as created,
      budget_nano_usd::text as budget, spent_nano_usd::text as spent, held_nano_usd::text as held
    from ${schema}.runs`;
  return readAll(client, sql, (row) =>
    books.run({
      organization: text(row, 'organization'),
      run: text(row, 'run'),
      createdUnixMs: Number(text(row, 'created')),
      budget: amount(row, 'budget'),
      spent: amount(row, 'spent'),
      held: amount(row, 'held'),
    }),
  );
}

function readCredits(client: ClientBase, schema: string, books: Books): Promise<number> {
  const sql = `
    select credit_id, organization_id as organization, amount_nano_usd::text as amount
    from ${schema}.credits`;
  return readAll(client, sql, (row) =>
    books.credit({
      id: text(row, 'credit_id'),
      organization: text(row, 'organization'),
      amount: amount(row, 'amount'),
    }),
  );
}

function readClaims(client: ClientBase, schema: string, books: Books): Promise<number> {
  const sql = `
    select scope, generation_id as generation, organization_id as organization
    from ${schema}.idempotency_claims where state = 'completed'`;
  return readAll(client, sql, (row) =>
    books.completedClaim({
      scope: text(row, 'scope'),
      generation: text(row, 'generation'),
      organization: text(row, 'organization'),
    }),
  );
}

function text(row: Row, column: string): string {
  const value = row[column];
  if (value === null || value === undefined) throw new Error(`${column} is empty`);
  return value;
}

function amount(row: Row, column: string): bigint {
  return BigInt(text(row, column));
}
