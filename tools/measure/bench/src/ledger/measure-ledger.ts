import type { Clock, UnixMs } from '@gateway/base';
import {
  BILLING_LEDGER_SCHEMA,
  createPostgresLedgerHistory,
  createPostgresLedgerStore,
  type LedgerStore,
} from '@gateway/billing-ledger';
import { descendantsOf } from '@gateway/dev-infra';
import { createPool } from '@gateway/database';
import type { Pool } from 'pg';
import { openLog, withFillingPool, type BenchDatabase } from '../bench-database';
import { cpuMicroseconds } from '../machine';
import type { Options } from '../options';
import { sampleWaits, type Sessions } from './sample-waits';
import { announce, finishedOf, newHolds } from './synthetic-batches';

const ORGANIZATIONS = 10_000;
const CREDIT_NANO_USD = 1_000_000_000_000_000n;

interface Connection {
  readonly number: number;
  readonly connections: number;
}

/** The organization of a hold, by its index in the batch and by the connection that writes it. */
const ORGANIZATION_OF = {
  'one organization': () => 0,
  'half on one': (index) => (index % 2 === 0 ? 0 : below(ORGANIZATIONS)),
  '10,000 organizations': () => below(ORGANIZATIONS),
  '10,000, none shared': (_index, { number, connections }) =>
    below(Math.floor(ORGANIZATIONS / connections)) * connections + number,
} as const satisfies Record<string, (index: number, connection: Connection) => number>;

export type Workload = keyof typeof ORGANIZATION_OF;
export const WORKLOADS = Object.keys(ORGANIZATION_OF) as Workload[];

export interface Scenario {
  readonly workload: Workload;
  /** Each repeats: one batch of holds, then their settlements. */
  readonly connections: number;
  readonly batch: number;
}

export interface Round {
  readonly seconds: number;
  /** Held and settled inside the window. */
  readonly generations: number;
  /** Also outside the window. */
  readonly settled: number;
  readonly holdMs: readonly number[];
  readonly settleMs: readonly number[];
  readonly databaseMicroseconds: number;
  /** Written to the WAL. */
  readonly walBytes: number;
  readonly sessions: Sessions;
}

export interface MeasuredLedger {
  measure(scenario: Scenario, window: Pick<Options, 'warmUpMs' | 'windowMs'>): Promise<Round>;
  close(): Promise<void>;
}

/** Gives every organization credit. Holds and settlements run as in the ledger, with the outbox in the same database. */
export async function openLedger(database: BenchDatabase): Promise<MeasuredLedger> {
  const clock: Clock = { now: () => Date.now() as UnixMs };
  const log = openLog(database, clock);
  await log.start();
  await createPostgresLedgerHistory({ pool: database.ledgerPool, clock }).prepare();
  await addCredit(database);
  const admin = createPool({
    url: database.adminUrl,
    schema: 'public',
    applicationName: 'bench waits',
    maxConnections: 1,
  });
  const store = createPostgresLedgerStore({ pool: database.ledgerPool, clock, appender: log });
  return {
    measure: (scenario, window) => measureRound(scenario, window, { store, clock, admin, database }),
    async close() {
      await log.stop();
      await admin.end();
    },
  };
}

interface RoundDeps {
  readonly store: LedgerStore;
  readonly clock: Clock;
  readonly admin: Pool;
  readonly database: BenchDatabase;
}

async function measureRound(
  { workload, connections, batch }: Scenario,
  { warmUpMs, windowMs }: Pick<Options, 'warmUpMs' | 'windowMs'>,
  { store, clock, admin, database }: RoundDeps,
): Promise<Round> {
  const window = { isOpen: false, isOver: false };
  const holdMs: number[] = [];
  const settleMs: number[] = [];
  let settled = 0;
  let generations = 0;

  async function work(number: number): Promise<void> {
    while (!window.isOver) {
      const organizationIds = Array.from(
        { length: batch },
        (_, index) => `org-${ORGANIZATION_OF[workload](index, { number, connections })}`,
      );
      const holds = newHolds(organizationIds, clock.now());
      const started = performance.now();
      const outcomes = await store.holdCredit(holds);
      const held = performance.now();
      const { settlements } = await store.settleGenerations(holds.map(finishedOf), announce);
      const ended = performance.now();
      if (outcomes.some(({ kind }) => kind !== 'held') || settlements.length !== batch)
        throw new Error('the ledger refused a hold or a settlement of the bench');
      settled += batch;
      if (!window.isOpen) continue;
      generations += batch;
      holdMs.push(held - started);
      settleMs.push(ended - held);
    }
  }

  async function observe() {
    await sleep(warmUpMs);
    window.isOpen = true;
    const started = performance.now();
    const cpuBefore = databaseMicroseconds(database);
    const walBefore = await walPosition(admin);
    const sampler = sampleWaits(admin);
    await sleep(windowMs);
    window.isOpen = false;
    window.isOver = true;
    const seconds = (performance.now() - started) / 1_000;
    const databaseCpu = databaseMicroseconds(database) - cpuBefore;
    const sessions = await sampler.stop();
    const walBytes = (await walPosition(admin)) - walBefore;
    return { seconds, databaseMicroseconds: databaseCpu, walBytes, sessions };
  }

  const [observed] = await Promise.all([
    observe(),
    ...Array.from({ length: connections }, (_, number) => work(number)),
  ]);
  return { ...observed, generations, settled, holdMs, settleMs };
}

async function addCredit(database: BenchDatabase): Promise<void> {
  await withFillingPool(database, BILLING_LEDGER_SCHEMA, async (pool) => {
    await pool.query(
      `with funded as (
         insert into accounts (organization_id, credited_nano_usd, available_nano_usd)
         select 'org-' || number, $2, $2 from generate_series(0, $1::integer - 1) as number
         returning organization_id
       ),
       credited as (
         insert into credits select 'crd-' || organization_id, organization_id, $2, 'bench', 0 from funded
       )
       insert into postings (reference, kind, organization_id, posted_unix_ms, credit_nano_usd, funding_nano_usd)
       select 'crd-' || organization_id, 'credit', organization_id, 0, $2, -$2::bigint from funded`,
      [ORGANIZATIONS, CREDIT_NANO_USD],
    );
    await pool.query('vacuum (freeze, analyze) accounts');
  });
}

/** Bytes written to the WAL since the server was created. */
async function walPosition(admin: Pool): Promise<number> {
  const { rows } = await admin.query<{ bytes: number }>(
    `select pg_wal_lsn_diff(pg_current_wal_insert_lsn(), '0/0')::float8 as bytes`,
  );
  return rows[0]?.bytes ?? Number.NaN;
}

function below(limit: number): number {
  return Math.floor(Math.random() * limit);
}

function sleep(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms));
}

function databaseMicroseconds({ pid }: BenchDatabase): number {
  return [pid, ...descendantsOf(pid)].reduce((sum, each) => sum + (cpuMicroseconds(each) ?? 0), 0);
}
