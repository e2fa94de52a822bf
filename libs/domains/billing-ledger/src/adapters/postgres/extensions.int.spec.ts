import { DAY_MS } from '@gateway/base';
import type { HoldRequest } from '../../core/credit/hold';
import {
  announce,
  makeFinished,
  makeHold,
  type Amounts,
  type HoldChanges,
  type LedgerFixture,
} from '../../testing/ledger-fixture';
import { withLedger } from '../../testing/ledger-of-tests';

let fixture: LedgerFixture;
let organizationId: string;
withLedger((ledger) => ({ fixture, organizationId } = ledger), { credit: 1_000 });

const idOf = (name: string) => `${organizationId}-${name}`;
const hold = (name: string, amount: number, more: HoldChanges = {}) =>
  makeHold({ holdId: idOf(name), organizationId, amount, at: fixture.clock.now(), ...more });
const place = async (...holds: readonly HoldRequest[]) =>
  expect((await fixture.first.store.holdCredit(holds)).map(({ kind }) => kind)).toEqual(
    holds.map(() => 'held'),
  );
const extend = (...holds: readonly HoldRequest[]) => fixture.first.store.extendHolds(holds);
const kindsOf = async (...holds: readonly HoldRequest[]) => (await extend(...holds)).map(({ kind }) => kind);
const settle = (name: string, cost: number) =>
  fixture.first.store.settleGenerations(
    [makeFinished({ generationId: idOf(name), organizationId, cost, at: fixture.clock.now() })],
    announce,
  );
const voidHold = (name: string) => fixture.first.store.voidHolds([{ holdId: idOf(name), organizationId }]);

async function balance() {
  const { chargedNanoUsd, heldNanoUsd, availableNanoUsd } =
    await fixture.first.store.readBalance(organizationId);
  return [chargedNanoUsd, heldNanoUsd, availableNanoUsd].map(Number);
}

it('raises an open hold to the amount, and a repeated call changes nothing', async () => {
  await place(hold('g1', 100));
  expect(await kindsOf(hold('g1', 250))).toEqual(['held']);
  expect(await kindsOf(hold('g1', 250), hold('g1', 200))).toEqual(['held', 'held']);
  expect(await balance()).toEqual([0, 250, 750]);
});

it('decides a batch in order, and a refusal takes nothing', async () => {
  await place(hold('g1', 100), hold('g2', 100));
  expect(await extend(hold('g1', 901), hold('g2', 200), hold('g1', 900), hold('g1', 800))).toEqual([
    { kind: 'insufficient_credits', availableNanoUsd: 800n, heldNanoUsd: 200n },
    { kind: 'held' },
    { kind: 'insufficient_credits', availableNanoUsd: 700n, heldNanoUsd: 300n },
    { kind: 'held' },
  ]);
  expect(await balance()).toEqual([0, 1_000, 0]);
});

it('is settled, or released by a void or the reaper, as a whole', async () => {
  await place(hold('settled', 100), hold('voided', 100), hold('overdue', 100, { lifetimeMs: 1_000 }));
  await kindsOf(hold('settled', 200), hold('voided', 300), hold('overdue', 400));
  await settle('settled', 150);
  expect(await balance()).toEqual([150, 700, 150]);
  await voidHold('voided');
  await fixture.clock.advance(1_001);
  await fixture.first.store.voidOverdueHolds(100);
  expect(await balance()).toEqual([150, 0, 850]);
  expect((await settle('voided', 170)).settlements).toMatchObject([{ origin: 'late', chargedNanoUsd: 170n }]);
  expect(await balance()).toEqual([320, 0, 680]);
});

it('is refused for a hold that is closed, unknown or of another organization', async () => {
  await place(hold('settled', 10), hold('voided', 10), hold('open', 10));
  await settle('settled', 5);
  await voidHold('voided');
  expect(
    await kindsOf(
      hold('settled', 20),
      hold('voided', 20),
      hold('unknown', 20),
      hold('open', 20, { organizationId: 'org-other' }),
    ),
  ).toEqual(['closed', 'closed', 'closed', 'foreign']);
  expect(await balance()).toEqual([5, 10, 985]);
  // An unknown id stays free: an extension is not a hold.
  await place(hold('unknown', 20));
});

describe.each(['organization', 'project', 'key'] as const)('a budget of the %s', (owner) => {
  const budgeted = (name: string, amount: number, budgets: Amounts) =>
    hold(name, amount, {
      projectId: owner === 'project' ? `proj-${organizationId}` : undefined,
      limits: { [owner]: budgets },
    });

  it.each(['day', 'week', 'month', 'total'] as const)('of the %s counts extensions', async (period) => {
    const budget = { [period]: 100 };
    await place(budgeted('g1', 30, budget), budgeted('g2', 30, budget));
    expect(await extend(budgeted('g1', 71, budget))).toEqual([
      {
        kind: 'budget_exceeded',
        scope: owner,
        period,
        limitNanoUsd: 100n,
        usedNanoUsd: 60n,
        heldNanoUsd: 60n,
      },
    ]);
    expect(await kindsOf(budgeted('g1', 70, budget))).toEqual(['held']);
    expect(await kindsOf(budgeted('g2', 31, budget))).toEqual(['budget_exceeded']);
    await voidHold('g1');
    expect(await kindsOf(budgeted('g2', 100, budget))).toEqual(['held']);
  });

  it('counts an extension on the day of its hold, and in its month what later days hold', async () => {
    await place(budgeted('g1', 30, {}));
    await fixture.clock.advance(DAY_MS);
    await place(budgeted('g2', 60, {}));
    expect(await kindsOf(budgeted('g1', 101, { day: 100 }))).toEqual(['budget_exceeded']);
    expect(await kindsOf(budgeted('g1', 41, { month: 100 }))).toEqual(['budget_exceeded']);
    expect(await kindsOf(budgeted('g1', 40, { day: 40, month: 100 }))).toEqual(['held']);
  });
});

it('never takes the holds of a run above its budget', async () => {
  const run = { runId: 'run-1', limits: { run: { total: 100 } } };
  await place(hold('g1', 30, run), hold('g2', 30, run));
  expect(await extend(hold('g1', 71))).toMatchObject([{ kind: 'budget_exceeded', scope: 'run' }]);
  expect(await kindsOf(hold('g1', 70))).toEqual(['held']);
  await settle('g1', 90);
  expect(await fixture.first.store.readRun(organizationId, 'run-1')).toMatchObject({
    spentNanoUsd: 90n,
    heldNanoUsd: 30n,
  });
  expect(await kindsOf(hold('g2', 31))).toEqual(['budget_exceeded']);
});

it('is posted in full under concurrency: parallel extensions of two ledgers take exactly what is available', async () => {
  const names = Array.from({ length: 40 }, (_, index) => `g${index}`);
  await place(...names.map((name) => hold(name, 1)));
  const outcomes = await Promise.all(
    names.map(async (name, index) => {
      const { store } = index % 2 === 0 ? fixture.first : fixture.second;
      // Repeated, as after a lost response.
      const [first] = await Promise.all([1, 2].map(() => store.extendHolds([hold(name, 49)])));
      return first?.[0]?.kind;
    }),
  );
  // Each takes 48 of 960.
  expect(outcomes.filter((kind) => kind === 'held')).toHaveLength(20);
  expect(await balance()).toEqual([0, 1_000, 0]);
});
