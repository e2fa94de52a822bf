import { createAuditEntry } from '@gateway/test-support';
import { MAX_IDLE_IN_TRANSACTION_MS } from '@gateway/database';
import { auditLedger } from '@gateway/ledger-audit';
import {
  announce,
  createLedgerFixture,
  makeFinished,
  makeHold,
  usdNano,
  type HoldChanges,
  type LedgerFixture,
} from '../../testing/ledger-fixture';

/** Far above the usual duration, for busy machines. */
jest.setTimeout(120_000);

let fixture: LedgerFixture;

beforeAll(async () => {
  fixture = await createLedgerFixture();
});

afterAll(async () => {
  await fixture.close();
});

afterEach(async () => {
  expect((await auditLedger(fixture.first.pool)).faults).toEqual([]);
});

const stores = () => [fixture.first.store, fixture.second.store] as const;
const storeOf = (index: number) => stores()[index % 2 === 0 ? 0 : 1];
const range = (length: number) => Array.from({ length }, (_, index) => index);

async function addCredit(organizationId: string, amount: number): Promise<void> {
  await fixture.first.store.addCredit(
    {
      creditId: `credit-${organizationId}`,
      organizationId,
      amountNanoUsd: usdNano(amount),
      note: 'test',
    },
    createAuditEntry(),
  );
}

it('two ledgers admit exactly as many parallel holds as the balance covers', async () => {
  await addCredit('org-exact', 25 * 4);
  const outcomes = await Promise.all(
    range(120).map((index) =>
      storeOf(index).holdCredit([
        makeHold({
          holdId: `exact-${index}`,
          organizationId: 'org-exact',
          amount: 4,
          at: fixture.clock.now(),
        }),
      ]),
    ),
  );
  expect(outcomes.flat().filter(({ kind }) => kind === 'held')).toHaveLength(25);
  expect((await fixture.first.store.readBalance('org-exact')).availableNanoUsd).toBe(0n);
});

const BUDGETS: [owner: string, budget: HoldChanges][] = [
  ...(['day', 'week', 'month', 'total'] as const).flatMap((period): [string, HoldChanges][] => [
    [`a key, ${period}`, { limits: { key: { [period]: 40 } } }],
    [`an organization, ${period}`, { limits: { organization: { [period]: 40 } } }],
  ]),
  ['a run', { runId: 'run-1', limits: { run: { total: 40 } } }],
];

it.each(BUDGETS)('two ledgers admit exactly what the budget of %s allows', async (owner, budget) => {
  const organizationId = `org-budget-${owner.replaceAll(/\W/g, '-')}`;
  await addCredit(organizationId, 1_000);
  const outcomes = await Promise.all(
    range(60).map((index) =>
      storeOf(index).holdCredit([
        makeHold({
          holdId: `${organizationId}-${index}`,
          organizationId,
          amount: 4,
          at: fixture.clock.now(),
          ...budget,
        }),
      ]),
    ),
  );
  expect(outcomes.flat().filter(({ kind }) => kind === 'held')).toHaveLength(10);
});

it('a hundred parallel calls of a run never hold above its budget, with costs above their holds and late settlements', async () => {
  const organizationId = 'org-run';
  await addCredit(organizationId, 10_000);
  const at = fixture.clock.now();
  const run = { runId: 'agent', limits: { run: { total: 100 } } };
  const admitted: string[] = [];
  const voided: string[] = [];
  const settled = (holdId: string, cost: number) =>
    makeFinished({ generationId: holdId, organizationId, cost, at });
  const readRun = async () => {
    const found = await fixture.first.store.readRun(organizationId, 'agent');
    if (!found) throw new Error('no run');
    return found;
  };
  for (const round of range(6)) {
    const placed = await Promise.all(
      range(100).map(async (index) => {
        const holdId = `run-${round}-${index}`;
        const [outcome] = await storeOf(index).holdCredit([
          makeHold({ holdId, organizationId, amount: 1 + (index % 7), at, ...run }),
        ]);
        return outcome?.kind === 'held' ? holdId : undefined;
      }),
    );
    const held = placed.filter((id) => id !== undefined);
    admitted.push(...held);
    if (held.length > 0) {
      const { spentNanoUsd, heldNanoUsd } = await readRun();
      expect(spentNanoUsd + heldNanoUsd).toBeLessThanOrEqual(100n);
    }
    await Promise.all(
      held.map((holdId, index) => {
        const store = storeOf(index);
        if (index % 3 === 0) voided.push(holdId);
        if (index % 3 === 0) return store.voidHolds([{ holdId, organizationId }]);
        return store.settleGenerations([settled(holdId, index % 5 === 1 ? 9 : 1)], announce);
      }),
    );
    await Promise.all(
      voided
        .splice(0, 5)
        .map((holdId, index) => storeOf(index).settleGenerations([settled(holdId, 9)], announce)),
    );
    expect((await readRun()).heldNanoUsd).toBe(0n);
  }
  expect(admitted.length).toBeGreaterThan(20);
  await Promise.all(
    voided.map((holdId, index) => storeOf(index).settleGenerations([settled(holdId, 9)], announce)),
  );
  // The balance pays what the budget does not cover.
  const { rows } = await fixture.first.pool.query<{ charged: bigint; uncollected: bigint }>(
    'select charged_nano_usd as charged, uncollected_nano_usd as uncollected from accounts where organization_id = $1',
    [organizationId],
  );
  expect(rows).toEqual([{ charged: (await readRun()).spentNanoUsd, uncollected: 0n }]);
  expect(rows[0]?.charged).toBeGreaterThan(100n);
});

it('concurrent first holds of new organizations do not conflict', async () => {
  const outcomes = await Promise.all(
    range(20).map((index) => {
      const organizationIds = ['org-new-1', 'org-new-2', 'org-new-3'];
      if (index % 2) organizationIds.reverse();
      return storeOf(index).holdCredit(
        organizationIds.map((organizationId) =>
          makeHold({
            holdId: `new-${organizationId}-${index}`,
            organizationId,
            amount: 1,
            at: fixture.clock.now(),
          }),
        ),
      );
    }),
  );
  expect(outcomes.flat().every(({ kind }) => kind === 'insufficient_credits')).toBe(true);
});

it('overlapping batches in opposite order of organization never deadlock', async () => {
  const own = await createLedgerFixture();
  const organizationIds = range(8).map((index) => `org-lock-${index}`);
  for (const organizationId of organizationIds) {
    await own.first.store.addCredit(
      {
        creditId: `credit-${organizationId}`,
        organizationId,
        amountNanoUsd: usdNano(1_000_000),
        note: 'test',
      },
      createAuditEntry(),
    );
  }
  const at = own.clock.now();

  await Promise.all(
    range(8).map(async (worker) => {
      const { store } = worker % 2 === 0 ? own.first : own.second;
      const order = worker % 4 < 2 ? organizationIds : [...organizationIds].reverse();
      for (const round of range(8)) {
        const holds = order.map((organizationId) =>
          makeHold({ holdId: `lock-${worker}-${round}-${organizationId}`, organizationId, amount: 10, at }),
        );
        await store.holdCredit(holds);
        const settled = holds
          .slice(4)
          .reverse()
          .map(({ holdId, organizationId }) =>
            makeFinished({ generationId: holdId, organizationId, cost: 7, at }),
          );
        await Promise.all([store.voidHolds(holds.slice(0, 4)), store.settleGenerations(settled, announce)]);
      }
    }),
  );

  expect((await auditLedger(own.first.pool)).openHolds).toBe(0);
  // The server's statistics are complete once these connections are closed.
  await Promise.all([own.first.pool.end(), own.second.pool.end()]);
  const { rows } = await fixture.first.pool.query<{ deadlocks: bigint }>(
    'select deadlocks from pg_stat_database where datname = $1',
    [own.database.name],
  );
  await own.close();
  expect(rows).toEqual([{ deadlocks: 0n }]);
});

it('concurrent duplicate settlements from two ledgers settle each generation once', async () => {
  await addCredit('org-twice', 1_000);
  const at = fixture.clock.now();
  const holds = range(20).map((index) =>
    makeHold({ holdId: `twice-${index}`, organizationId: 'org-twice', amount: 10, at }),
  );
  await fixture.first.store.holdCredit(holds);
  const generations = holds.map(({ holdId, organizationId }) =>
    makeFinished({ generationId: holdId, organizationId, cost: 3, at }),
  );
  const reports = await Promise.all(
    range(6).map((index) => storeOf(index).settleGenerations(generations, announce)),
  );
  expect(reports.flatMap(({ settlements }) => settlements)).toHaveLength(20);
  expect((await fixture.first.store.readBalance('org-twice')).chargedNanoUsd).toBe(60n);
});

it('a ledger that hangs in the middle of a settlement does not block its accounts for long', async () => {
  await addCredit('org-stopped', 10);
  const hold = (holdId: string) =>
    makeHold({ holdId, organizationId: 'org-stopped', amount: 4, at: fixture.clock.now() });
  await fixture.first.store.holdCredit([hold('stopped-1')]);

  const stopped = await fixture.first.pool.connect();
  const lost = new Promise<void>((resolve) => stopped.once('error', () => resolve()));
  await stopped.query('begin');
  await stopped.query('select * from lock_for_settlement($1, $2, $3)', [
    ['stopped-1'],
    ['org-stopped'],
    [null],
  ]);
  const { rows } = await stopped.query<{ idle_in_transaction_session_timeout: string }>(
    'show idle_in_transaction_session_timeout',
  );
  expect(rows).toEqual([{ idle_in_transaction_session_timeout: `${MAX_IDLE_IN_TRANSACTION_MS}ms` }]);

  // The first ledger is idle from here on, with the account locked.
  expect(await fixture.second.store.holdCredit([hold('stopped-2')])).toMatchObject([{ kind: 'held' }]);
  await lost;
  stopped.release(true);
});
