import { DAY_MS, type UnixMs } from '@gateway/base';
import { listPartitions } from '@gateway/database';
import { smallestIdAt } from '@gateway/runtime';
import { createAuditEntry, beginIdleTransaction, eventually } from '@gateway/test-support';
import { auditLedger } from '@gateway/ledger-audit';
import {
  announce,
  createLedgerFixture,
  makeFinished,
  makeHold,
  usdNano,
  type LedgerFixture,
} from '../../testing/ledger-fixture';
import { BILLING_LEDGER_SCHEMA } from './sql/schema';

const RETENTION_DAYS = 90;

let fixture: LedgerFixture;
let at: UnixMs;

beforeEach(async () => {
  fixture = await createLedgerFixture();
  at = fixture.clock.now();
  const credit = { creditId: 'crd-1', organizationId: 'org-a', amountNanoUsd: usdNano(1_000), note: '' };
  await fixture.first.store.addCredit(credit, createAuditEntry());
});

afterEach(async () => {
  expect((await auditLedger(fixture.auditPool)).faults).toEqual([]);
  await fixture.close();
});

/** Like the ids that edges create. */
const idCreatedAt = (unixMs: number, name: string) => smallestIdAt('gen', unixMs) + name;
const hold = (holdId: string, more = {}) =>
  fixture.first.store.holdCredit([makeHold({ holdId, amount: 10, at: fixture.clock.now(), ...more })]);
const settle = (generationId: string) =>
  fixture.first.store.settleGenerations(
    [makeFinished({ generationId, cost: 4, at: fixture.clock.now() })],
    announce,
  );
const voidHold = (holdId: string) => fixture.first.store.voidHolds([{ holdId, organizationId: 'org-a' }]);

async function partitionOf(table: string, column: string, id: string): Promise<string[]> {
  const { rows } = await fixture.auditPool.query<{ name: string }>(
    `select distinct tableoid::regclass::text as name from ${table} where ${column} = $1`,
    [id],
  );
  return rows.map(({ name }) => name);
}

async function expireAll(): Promise<number> {
  await fixture.clock.advance((RETENTION_DAYS + 32) * DAY_MS);
  return fixture.first.history.dropExpired();
}

it('writes rows to the month of the hold id, also when it is settled a month later', async () => {
  const id = idCreatedAt(at, 'A');
  const [month] = await listPartitions(fixture.auditPool, {
    schema: BILLING_LEDGER_SCHEMA,
    table: 'closed_holds',
  });
  await hold(id);
  await fixture.clock.advance(31 * DAY_MS);
  await fixture.first.history.prepare();
  await settle(id);
  expect(await partitionOf('closed_holds', 'hold_id', id)).toEqual([month?.name]);
  expect(await partitionOf('postings', 'reference', id)).toEqual([
    month?.name.replace('closed_holds', 'postings'),
  ]);
});

it('accepts rows without a partition, and moves them once it exists', async () => {
  await fixture.clock.advance(100 * DAY_MS);
  const id = idCreatedAt(fixture.clock.now(), 'A');
  expect(await hold(id)).toEqual([{ kind: 'held' }]);
  await settle(id);
  expect(await partitionOf('closed_holds', 'hold_id', id)).toEqual(['closed_holds_default']);
  await fixture.first.history.prepare();
  expect(await partitionOf('closed_holds', 'hold_id', id)).not.toEqual(['closed_holds_default']);
  expect(await partitionOf('postings', 'reference', id)).not.toEqual(['postings_default']);
  expect((await settle(id)).duplicates).toBe(1);
});

it('stores a closed hold until its retention ends', async () => {
  const [settled, voided, abandoned] = ['A', 'B', 'C'].map((name) => idCreatedAt(at, name)) as [
    string,
    string,
    string,
  ];
  await hold(settled);
  await settle(settled);
  await hold(voided);
  await voidHold(voided);
  await voidHold(abandoned);
  await fixture.clock.advance((RETENTION_DAYS - 1) * DAY_MS);
  expect(await fixture.first.history.dropExpired()).toBe(0);
  for (const id of [settled, voided, abandoned]) expect(await hold(id)).toEqual([{ kind: 'closed' }]);
  expect((await settle(settled)).duplicates).toBe(1);
  expect((await settle(abandoned)).rejected).toHaveLength(1);
  expect((await settle(voided)).settlements).toMatchObject([{ origin: 'late', chargedNanoUsd: 4n }]);
});

it('never holds or settles under the id of a deleted hold', async () => {
  const [settled, voided, never] = ['A', 'B', 'C'].map((name) => idCreatedAt(at, name)) as [
    string,
    string,
    string,
  ];
  await hold(settled);
  await settle(settled);
  await hold(voided);
  await voidHold(voided);
  expect(await expireAll()).toBeGreaterThan(0);
  const { rows } = await fixture.auditPool.query('select from holds');
  expect(rows).toHaveLength(0);

  for (const id of [settled, voided, never]) {
    expect(await hold(id)).toEqual([{ kind: 'closed' }]);
    expect(await voidHold(id)).toBe(0);
    const { rejected, settlements, duplicates } = await settle(id);
    expect([rejected.length, settlements.length, duplicates]).toEqual([1, 0, 0]);
  }
  expect(await fixture.first.store.readBalance('org-a')).toMatchObject({
    chargedNanoUsd: 4n,
    heldNanoUsd: 0n,
  });
  // Postings and daily totals are permanent.
  const { rows: postings } = await fixture.auditPool.query('select from postings where reference = $1', [
    settled,
  ]);
  expect(postings).toHaveLength(2);
  const { rows: days } = await fixture.auditPool.query<{ spent_nano_usd: bigint }>(
    `select spent_nano_usd from budget_accounts where organization_id = 'org-a' and owner_id = ''`,
  );
  expect(days).toEqual([{ spent_nano_usd: 4n }]);
});

describe('the oldest retained id', () => {
  let first: string;

  beforeEach(async () => {
    expect(await expireAll()).toBeGreaterThan(0);
    const { rows } = await fixture.auditPool.query<{ id: string }>(
      'select oldest_retained_hold_id as id from closed_hold_retention',
    );
    first = rows[0]?.id ?? '';
  });

  it('can be held', async () => {
    expect(await hold(first)).toEqual([{ kind: 'held' }]);
  });

  it('can be settled without a hold', async () => {
    expect((await settle(first)).settlements).toMatchObject([{ origin: 'no_hold', chargedNanoUsd: 4n }]);
  });

  it('can be abandoned, and not held afterwards', async () => {
    expect(await voidHold(first)).toBe(0);
    expect(await hold(first)).toEqual([{ kind: 'closed' }]);
  });
});

it('settles a hold that is still open, however old it is', async () => {
  const open = idCreatedAt(at, 'A');
  await hold(open);
  await expireAll();
  expect(await hold(open)).toEqual([{ kind: 'held' }]);
  expect((await settle(open)).settlements).toMatchObject([{ origin: 'held', chargedNanoUsd: 4n }]);
  expect((await settle(open)).duplicates).toBe(1);
});

it('deletes a run with its last hold, and not before', async () => {
  const { history, store } = fixture.first;
  const inRun = (id: string, budget?: number) =>
    hold(id, { runId: 'run-1', limits: { run: { total: budget } } });
  const first = idCreatedAt(at, 'A');
  await inRun(first, 1_000);
  await settle(first);
  expect(await history.deleteOldRuns(10)).toBe(0);
  await fixture.clock.advance(40 * DAY_MS);
  await history.prepare();
  const later = idCreatedAt(fixture.clock.now(), 'B');
  await inRun(later);
  await settle(later);

  await fixture.clock.advance((RETENTION_DAYS - 5) * DAY_MS);
  expect(await history.dropExpired()).toBe(1);
  expect(await history.deleteOldRuns(10)).toBe(0);
  expect(await store.readRun('org-a', 'run-1')).toMatchObject({ spentNanoUsd: 8n });
  await expireAll();
  expect(await history.deleteOldRuns(10)).toBe(1);
  expect(await store.readRun('org-a', 'run-1')).toBeUndefined();
});

it('does not delete holds whose ids have another format and thus no time', async () => {
  await hold('made-up');
  await settle('made-up');
  await expireAll();
  expect(await hold('made-up')).toEqual([{ kind: 'closed' }]);
  expect((await settle('made-up')).duplicates).toBe(1);
});

it('reserves an id for one organization, also when another closes it between two statements', async () => {
  const id = idCreatedAt(at, 'A');
  const other = await fixture.second.pool.connect();
  const waiting = `select from pg_stat_activity where application_name = 'ledger-1' and wait_event_type = 'Lock'`;
  try {
    await beginIdleTransaction(other);
    await other.query('lock table open_holds in share mode');
    // The lookup finds nothing; the insert waits for the lock.
    const late = hold(id, { organizationId: 'org-a' });
    await eventually(
      'the hold to wait for the lock',
      async () => (await fixture.auditPool.query(waiting)).rows[0],
    );
    await other.query('select void_holds($1, $2)', [[id], ['org-b']]);
    await other.query('commit');
    expect(await late).toEqual([{ kind: 'foreign' }]);
  } finally {
    other.release(true);
  }
});

it('creates and drops partitions concurrently in several processes', async () => {
  const id = idCreatedAt(at, 'A');
  await hold(id);
  await settle(id);
  await fixture.clock.advance((RETENTION_DAYS + 32) * DAY_MS);
  const histories = [fixture.first.history, fixture.second.history];
  await Promise.all(histories.map((history) => history.prepare()));
  const dropped = await Promise.all(histories.map((history) => history.dropExpired()));
  expect(dropped.reduce((total, partitions) => total + partitions)).toBe(1);
});
