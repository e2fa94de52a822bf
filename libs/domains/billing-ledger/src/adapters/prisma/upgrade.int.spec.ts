import { DAY_MS, HOUR_MS, type UnixMs } from '@gateway/base';
import { applyMigrations, createPool, listPartitions } from '@gateway/database';
import { leastIdAt } from '@gateway/runtime';
import { createTestDatabase, type TestDatabase } from '@gateway/test-support';
import type { Pool } from 'pg';
import { auditLedger } from '../../audit/audit-ledger';
import { announce, makeFinished, makeHold, silentAppender, usdNano } from '../../testing/ledger-rig';
import { createPostgresLedgerHistory } from '../postgres/ledger-history';
import { BILLING_LEDGER_SCHEMA as schema, createPostgresLedgerStore } from '../postgres/ledger-store';
import { billingLedgerMigrations } from './migrations';

/** The first version that keeps its history in tables by time. */
const FIRST_BY_TIME = '20261122013000_postings_by_time';
const before = billingLedgerMigrations.filter(({ name }) => name < FIRST_BY_TIME);

let database: TestDatabase;
let pool: Pool;
/** Migrations go by the database's clock. */
const clock = { now: () => Date.now() as UnixMs };
const at = clock.now();
/** Of ids as edges make them, and of others. */
const ids = (name: string) => [leastIdAt('gen', at) + name, `gen-${name}`, `a-${name}`, `x-${name}`];

/** The least id of what there is at the upgrade, and the least that comes after: no id may be in between. */
const atBounds = ['gen-', leastIdAt('gen', (Math.floor(at / DAY_MS) + 1) * DAY_MS)];

beforeAll(async () => {
  database = await createTestDatabase();
  pool = createPool({ url: database.url, schema, applicationName: 'upgrade', maxConnections: 4 });
});

afterAll(async () => {
  await pool.end();
  await database.drop();
});

function openStore() {
  return createPostgresLedgerStore({ pool, clock, appender: silentAppender });
}

const refs = (name: string) => ids(name).map((holdId) => ({ holdId, organizationId: 'org-a' }));
const finished = (name: string) =>
  ids(name).map((generationId) => makeFinished({ generationId, cost: 3, at }));
const holds = (name: string) => ids(name).map((holdId) => makeHold({ holdId, amount: 5, at }));

it('upgrades books of every state in place, and goes on with them', async () => {
  await applyMigrations(pool, { schema, migrations: before });
  const store = openStore();
  for (const creditId of ['crd-1', 'from-a-header']) {
    await store.addCredit({ creditId, organizationId: 'org-a', amountNanoUsd: usdNano(500), note: '' });
  }
  // Decided one by one, and settled without prices of their own, so that only functions which that version had are called.
  for (const name of ['open', 'settled', 'voided']) await store.holdCredit(holds(name), 'unknown');
  const asThen = finished('settled').map((generation) => ({ ...generation, prices: undefined }));
  await store.settleGenerations(asThen, announce);
  await store.voidHolds(refs('voided'));
  await store.voidHolds(refs('given-up'));
  const heldAtBounds = atBounds.map((holdId) => makeHold({ holdId, amount: 5, at }));
  await store.holdCredit(heldAtBounds, 'unknown');
  await store.voidHolds(atBounds.map((holdId) => ({ holdId, organizationId: 'org-a' })));
  const balance = await store.readBalance('org-a');

  await applyMigrations(pool, { schema, migrations: billingLedgerMigrations });
  const history = createPostgresLedgerHistory({ pool, clock });
  await history.prepare();

  expect(await auditLedger(pool)).toMatchObject({ faults: [], openHolds: 4, settledGenerations: 4 });
  expect(await store.readBalance('org-a')).toEqual(balance);
  // Windows begin when no process of the version before is left, who announced another time than it posted.
  const { rows } = await pool.query<{ begins: bigint }>(
    'select begins_unix_ms as begins from settlements_told_progress',
  );
  expect(Number(rows[0]?.begins)).toBeGreaterThan(at + HOUR_MS);
  expect(Number(rows[0]?.begins) % HOUR_MS).toBe(0);
  for (const table of ['postings', 'closed_holds']) {
    // What was there stays where it is until tonight; then this month and the next.
    const [first, ...later] = await listPartitions(pool, { schema, table });
    expect(first?.untilUnixMs).toBeGreaterThan(at);
    expect(later.length).toBeGreaterThanOrEqual(1);
  }
  // The version before goes on beside this one with the same functions.
  expect((await store.settleGenerations(finished('settled'), announce)).duplicates).toBe(4);
  expect(await store.holdCredit(holds('open'))).toEqual(holds('open').map(() => ({ kind: 'held' })));
  for (const name of ['settled', 'voided', 'given-up']) {
    expect(await store.holdCredit(holds(name))).toEqual(holds(name).map(() => ({ kind: 'closed' })));
  }
  expect((await store.settleGenerations(finished('given-up'), announce)).rejected).toHaveLength(4);
  const { settlements } = await store.settleGenerations(
    [...finished('open'), ...finished('voided')],
    announce,
  );
  expect(settlements.map(({ origin }) => origin)).toEqual([
    ...Array.from({ length: 4 }, () => 'held'),
    ...Array.from({ length: 4 }, () => 'late'),
  ]);
  expect(await auditLedger(pool)).toMatchObject({ faults: [], openHolds: 0, settledGenerations: 12 });
});
