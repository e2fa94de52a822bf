import { DAY_MS, type UnixMs } from '@gateway/base';
import { createPool, listPartitions, createPartitions } from '@gateway/database';
import { smallestIdAt } from '@gateway/runtime';
import { createAuditEntry, readsOf, type TableRead } from '@gateway/test-support';
import type { Pool } from 'pg';
import type { LedgerStore } from '../../core/ports';
import {
  announce,
  budgetsOf,
  createLedgerFixture,
  makeFinished,
  makeHold,
  silentAppender,
  usdNano,
  type LedgerFixture,
} from '../../testing/ledger-fixture';
import { fillLedgerHistory } from '../../testing/synthetic-history';
import { createPostgresLedgerStore } from './ledger-store';
import { BILLING_LEDGER_SCHEMA as schema } from './sql/schema';

const GENERATIONS = 330_000;
const ORGANIZATIONS = 1_000;
const BATCH = 20;

jest.setTimeout(120_000);

let fixture: LedgerFixture;
let pool: Pool;
let store: LedgerStore;
let at: UnixMs;
let thisMonth: string;

/** A million rows: the holds of half a year and two postings for each. */
beforeAll(async () => {
  fixture = await createLedgerFixture();
  // One connection, so that its plans can be inspected.
  pool = createPool({ url: fixture.database.url, schema, applicationName: 'plans', maxConnections: 1 });
  store = createPostgresLedgerStore({
    pool,
    clock: fixture.clock,
    appender: silentAppender,
  });
  const fromUnixMs = fixture.clock.now();
  await fixture.clock.advance(180 * DAY_MS);
  at = fixture.clock.now();
  for (let days = 0; days <= 180; days += 28) await prepareAt(fromUnixMs + days * DAY_MS);
  await fixture.first.history.prepare();
  await fillLedgerHistory(fixture.auditPool, {
    generations: GENERATIONS,
    organizations: ORGANIZATIONS,
    fromUnixMs,
    untilUnixMs: at,
  });
  thisMonth = (await partitionAt(at)).replace('closed_holds', '');
});

afterAll(async () => {
  await pool.end();
  await fixture.close();
});

async function prepareAt(nowUnixMs: number): Promise<void> {
  const smallestKeyAt = (unixMs: number) => smallestIdAt('gen', unixMs);
  for (const [table, key] of [
    ['postings', 'reference'],
    ['closed_holds', 'hold_id'],
  ] as const) {
    await createPartitions(
      pool,
      { schema, table, key, period: 'month', smallestKeyAt },
      { nowUnixMs, ahead: 0 },
    );
  }
}

async function partitionAt(unixMs: number): Promise<string> {
  const partitions = await listPartitions(pool, { schema, table: 'closed_holds' });
  return partitions.find(({ untilUnixMs }) => untilUnixMs > unixMs)?.name ?? '';
}

async function readsBy(work: () => Promise<unknown>): Promise<TableRead[]> {
  const client = await pool.connect();
  // Released immediately: the work then uses this only connection.
  client.release();
  return readsOf(client, work);
}

/** Every table with more than one row is read through an index, and for no more rows than the batch needs. */
function expectFlat(reads: readonly TableRead[], partitions: readonly string[]): void {
  const ofTables = reads.filter(({ table }) => table !== 'closed_hold_retention');
  expect(ofTables.length).toBeGreaterThan(0);
  expect(ofTables.filter(({ how }) => !/Index|Bitmap/.test(how))).toEqual([]);
  expect(ofTables.filter(({ rows }) => rows > 4 * BATCH)).toEqual([]);
  const history = ofTables
    .map(({ table }) => table)
    .filter((table) => /^(closed_holds|postings)_/.test(table));
  expect([...new Set(history)].sort()).toEqual([...partitions].sort());
}

const LIMITS = { day: 1e9, week: 1e12, month: 1e12, total: 1e12, window: { 24: 1e12 } };
const organizationOf = (index: number) => `org-${index * 7}`;
const items = Array.from({ length: BATCH }, (_, index) => index);
const newHolds = (name: string) =>
  items.map((index) =>
    makeHold({
      holdId: `${smallestIdAt('gen', at)}${name}${index}`,
      organizationId: organizationOf(index),
      keyId: `key-${index}`,
      amount: 1_000,
      at,
    }),
  );
const finishedOf = (name: string) =>
  newHolds(name).map(({ holdId, organizationId }) =>
    makeFinished({ generationId: holdId, organizationId, cost: 700, at }),
  );

it('holds without reading history, except the month of their ids', async () => {
  const reads = await readsBy(async () => {
    const outcomes = await store.holdCredit(newHolds('held'));
    expect(outcomes.map(({ kind }) => kind)).toEqual(items.map(() => 'held'));
  });
  expectFlat(reads, [`closed_holds${thisMonth}`]);
});

it('extends holds without reading history', async () => {
  await store.holdCredit(newHolds('extended'));
  const larger = newHolds('extended').map((hold) => ({
    ...hold,
    amountNanoUsd: usdNano(2_000),
    budgets: budgetsOf(hold, { organization: LIMITS, key: LIMITS }),
  }));
  const reads = await readsBy(async () => {
    const outcomes = await store.extendHolds(larger);
    expect(outcomes.map(({ kind }) => kind)).toEqual(items.map(() => 'held'));
  });
  expectFlat(reads, []);
});

it('settles open holds without reading history', async () => {
  await store.holdCredit(newHolds('settled'));
  const reads = await readsBy(async () => {
    const { settlements } = await store.settleGenerations(finishedOf('settled'), announce);
    expect(settlements).toHaveLength(BATCH);
  });
  expectFlat(reads, []);
});

it('holds and settles in counters without reading history, except the month of the ids', async () => {
  const held = newHolds('window').map((hold) => ({
    ...hold,
    budgets: budgetsOf(hold, {
      organization: { window: { 744: 1e12 }, models: { 'acme/*': { month: 1e12 } } },
      end_user: { day: 1e12, total: 1e12 },
    }),
  }));
  expectFlat(await readsBy(() => store.holdCredit(held)), [`closed_holds${thisMonth}`]);
  const reads = await readsBy(async () => {
    const { settlements } = await store.settleGenerations(finishedOf('window'), announce);
    expect(settlements).toHaveLength(BATCH);
  });
  expectFlat(reads, [`closed_holds${thisMonth}`]);
});

it('settles late, without a hold and repeatedly without reading history, except the month of the ids', async () => {
  await store.holdCredit(newHolds('late'));
  await store.voidHolds(newHolds('late'));
  for (const name of ['late', 'no-hold', 'no-hold']) {
    const reads = await readsBy(() => store.settleGenerations(finishedOf(name), announce));
    expectFlat(reads, [`closed_holds${thisMonth}`]);
  }
});

it('voids and abandons holds without reading history, except the month of the ids', async () => {
  await store.holdCredit(newHolds('voided'));
  expectFlat(await readsBy(() => store.voidHolds(newHolds('voided'))), []);
  expectFlat(await readsBy(() => store.voidHolds(newHolds('abandoned'))), [`closed_holds${thisMonth}`]);
});

it('voids overdue holds by reading only these', async () => {
  await store.holdCredit(newHolds('overdue').map((hold) => ({ ...hold, lifetimeMs: -1 })));
  const reads = await readsBy(async () => expect(await store.voidOverdueHolds(200)).toBe(BATCH));
  expectFlat(reads, []);
  expect(reads).toContainEqual(expect.objectContaining({ index: 'open_holds_by_deadline', rows: BATCH }));
  // Without overdue holds it reads only that index.
  const idle = await readsBy(() => store.voidOverdueHolds(200));
  expect(idle).toEqual([expect.objectContaining({ index: 'open_holds_by_deadline', rows: 0 })]);
});

it('adds credit without reading history', async () => {
  const credit = {
    creditId: 'crd-new',
    organizationId: 'org-1',
    amountNanoUsd: makeHold({ holdId: '', amount: 5, at }).amountNanoUsd,
    note: '',
  };
  expectFlat(await readsBy(() => store.addCredit(credit, createAuditEntry())), []);
});

it("reads a page of an organization's statement by index, only in the requested months", async () => {
  const fromUnixMs = at - 20 * DAY_MS;
  const reads = await readsBy(() =>
    pool.query(
      `select reference, kind, posted_unix_ms from postings
       where organization_id = $1 and posted_unix_ms between $2 and $3 and reference >= $4
       order by posted_unix_ms desc, reference desc, kind desc limit ${BATCH}`,
      ['org-7', fromUnixMs, at, smallestIdAt('gen', fromUnixMs - DAY_MS)],
    ),
  );
  expect(reads.filter(({ how }) => !how.includes('Index'))).toEqual([]);
  expect(reads.filter(({ rows }) => rows > 4 * BATCH)).toEqual([]);
  const tables = reads.map(({ table }) => table);
  expect(tables).toContain(`postings${thisMonth}`);
  expect(tables.length).toBeLessThanOrEqual(4);
});

describe('a process whose plans date from empty tables', () => {
  const ROWS = 400;
  let young: LedgerFixture;

  beforeAll(async () => {
    young = await createLedgerFixture();
    await young.first.store.addCredit(
      {
        creditId: 'crd-1',
        organizationId: 'org-1',
        amountNanoUsd: usdNano(1_000_000),
        note: '',
      },
      createAuditEntry(),
    );
    // Autovacuum's analyze would invalidate the plans.
    await young.auditPool.query(`do $$
      declare name regclass;
      begin
        for name in
          select relation.oid from pg_class relation
          where relation.relkind = 'r' and relation.relnamespace = '${schema}'::regnamespace
        loop
          execute format('alter table %s set (autovacuum_enabled = off)', name);
        end loop;
      end $$`);
  });

  afterAll(() => young.close());

  it('reads no more rows after the tables have grown', async () => {
    const one = createPool({ url: young.database.url, schema, applicationName: 'young', maxConnections: 1 });
    const process = createPostgresLedgerStore({ pool: one, clock: young.clock, appender: silentAppender });
    const now = young.clock.now();
    const holdsOf = (name: string, count: number) =>
      Array.from({ length: count }, (_, index) =>
        makeHold({
          holdId: `${smallestIdAt('gen', now)}${name}${index}`,
          organizationId: 'org-1',
          amount: 10,
          at: now,
        }),
      );
    const finishedOf = (name: string, count: number, more = {}) =>
      holdsOf(name, count).map(({ holdId, organizationId }) =>
        makeFinished({ generationId: holdId, organizationId, cost: 7, at: now, ...more }),
      );
    /** Calls every function once: both paths of hold_credit, both paths of settlement, and void_holds. */
    async function everything(store: LedgerStore, name: string, count: number): Promise<void> {
      const refused = makeHold({
        holdId: `${smallestIdAt('gen', now)}${name}R`,
        organizationId: 'org-1',
        amount: 1e12,
        at: now,
      });
      for (const [index, before] of [[], [refused]].entries()) {
        const outcomes = await store.holdCredit([...before, ...holdsOf(`${name}${index}`, count)]);
        expect(outcomes.filter(({ kind }) => kind === 'held')).toHaveLength(count);
      }
      await store.settleGenerations(finishedOf(`${name}0`, count), announce);
      await store.settleGenerations(finishedOf(`${name}1`, count, { keyId: 'key-other' }), announce);
      await store.holdCredit(holdsOf(`${name}2`, count));
      expect(await store.voidHolds(holdsOf(`${name}2`, count))).toBe(count);
    }
    try {
      await everything(process, 'first', 1);
      await everything(young.second.store, 'grown', ROWS);
      const client = await one.connect();
      client.release();
      const reads = await readsOf(client, () => everything(process, 'last', BATCH));
      expect(reads.length).toBeGreaterThan(10);
      expect(reads.filter(({ rows }) => rows > 4 * BATCH)).toEqual([]);
    } finally {
      await one.end();
    }
  });
});
