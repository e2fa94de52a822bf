import { HOUR_MS, type UnixMs } from '@gateway/base';
import type { HoldRequest } from '../../core/credit/hold';
import {
  announce,
  budgetsOf,
  makeFinished,
  makeHold,
  type LedgerFixture,
} from '../../testing/ledger-fixture';
import { withLedger } from '../../testing/ledger-of-tests';

const DECISIONS = ['on the fast path', 'on the slow path'] as const;
const OWNERS = ['organization', 'project', 'key'] as const;

let fixture: LedgerFixture;
let organizationId: string;
let refusedHolds = 0;
withLedger((ledger) => ({ fixture, organizationId } = ledger), { at: Date.UTC(2027, 3, 15, 12, 30) });

const idOf = (name: string) => `${organizationId}-${name}`;
const hold = (name: string, amount: number) =>
  makeHold({ holdId: idOf(name), organizationId, amount, at: fixture.clock.now(), projectId: 'proj-a' });
const settle = (name: string, cost: number) =>
  fixture.first.store.settleGenerations(
    [makeFinished({ generationId: idOf(name), organizationId, cost, at: fixture.clock.now() })],
    announce,
  );
const voidHold = (name: string) => fixture.first.store.voidHolds([{ holdId: idOf(name), organizationId }]);

async function place(
  owner: (typeof OWNERS)[number],
  decision: (typeof DECISIONS)[number],
  window: Readonly<Record<number, number>>,
  ...holds: readonly HoldRequest[]
) {
  const budgeted = holds.map((each) => ({ ...each, budgets: budgetsOf(each, { [owner]: { window } }) }));
  const { store } = fixture.first;
  if (decision === 'on the fast path') return store.holdCredit(budgeted);
  const refused = hold(`refused-${(refusedHolds += 1)}`, 1e12);
  return (await store.holdCredit([refused, ...budgeted])).slice(1);
}

describe.each(DECISIONS)('holds that are decided %s', (decision) => {
  describe.each(OWNERS)('with a window of the %s', (owner) => {
    const placed = (window: Readonly<Record<number, number>>, ...holds: readonly HoldRequest[]) =>
      place(owner, decision, window, ...holds);
    const kindsOf = async (window: Readonly<Record<number, number>>, ...holds: readonly HoldRequest[]) =>
      (await placed(window, ...holds)).map(({ kind }) => kind);

    it('count holds and charges of the last hours, and say when enough of them has left', async () => {
      const window = { 3: 100 };
      expect(await kindsOf(window, hold('g1', 60), hold('g2', 60), hold('g3', 40))).toEqual([
        'held',
        'budget_exceeded',
        'held',
      ]);
      await settle('g1', 20);
      await voidHold('g3');
      await fixture.clock.advance(HOUR_MS);
      expect(await kindsOf(window, hold('g4', 50))).toEqual(['held']);
      await settle('g4', 50);
      const exceeded = { kind: 'budget_exceeded', scope: owner, period: 'window', hours: 3 };
      const amounts = { limitNanoUsd: 100n, usedNanoUsd: 70n, heldNanoUsd: 0n };
      expect(await placed(window, hold('g5', 40), hold('g6', 60), hold('g7', 101))).toEqual([
        { ...exceeded, ...amounts, freesAt: Date.UTC(2027, 3, 15, 15) },
        { ...exceeded, ...amounts, freesAt: Date.UTC(2027, 3, 15, 16) },
        { ...exceeded, ...amounts },
      ]);
      await fixture.clock.set((Date.UTC(2027, 3, 15, 15) - 1) as UnixMs);
      expect(await kindsOf(window, hold('g8', 40))).toEqual(['budget_exceeded']);
      await fixture.clock.set(Date.UTC(2027, 3, 15, 15) as UnixMs);
      expect(await kindsOf(window, hold('g9', 60))).toEqual(['budget_exceeded']);
      expect(await kindsOf(window, hold('g10', 50))).toEqual(['held']);
    });

    it('count what is held however old it is, and a charge in its hour of admission', async () => {
      const window = { 1: 100 };
      expect(await kindsOf(window, hold('g1', 70))).toEqual(['held']);
      await fixture.clock.advance(5 * HOUR_MS);
      expect(await placed(window, hold('g2', 31))).toMatchObject([{ usedNanoUsd: 70n, heldNanoUsd: 70n }]);
      await settle('g1', 70);
      expect(await kindsOf(window, hold('g3', 100))).toEqual(['held']);
      await voidHold('g3');
      // Late: after its hold was voided.
      await settle('g3', 100);
      expect(await kindsOf(window, hold('g4', 1))).toEqual(['budget_exceeded']);
    });

    it('free nothing when the clock is set back', async () => {
      const window = { 2: 100 };
      expect(await kindsOf(window, hold('g1', 100))).toEqual(['held']);
      await settle('g1', 100);
      await fixture.clock.set((fixture.clock.now() - 4 * HOUR_MS) as UnixMs);
      expect(await kindsOf(window, hold('g2', 1))).toEqual(['budget_exceeded']);
    });

    it('count what was admitted since the window was set', async () => {
      expect(await kindsOf({}, hold('before', 60), hold('running', 20))).toEqual(['held', 'held']);
      await settle('before', 60);
      expect(await kindsOf({ 24: 100 }, hold('g1', 100))).toEqual(['held']);
      await settle('running', 20);
      await settle('g1', 100);
      // Another length counts the same hours.
      expect(await kindsOf({ 48: 101 }, hold('g2', 1))).toEqual(['held']);
      expect(await kindsOf({ 48: 101 }, hold('g3', 1))).toEqual(['budget_exceeded']);
    });

    it('name the longest exceeded window', async () => {
      expect(await kindsOf({ 1: 10, 24: 10 }, hold('g1', 10))).toEqual(['held']);
      expect(await placed({ 1: 10, 24: 10 }, hold('g2', 1))).toMatchObject([{ hours: 24 }]);
    });
  });
});

it.each(OWNERS)('extensions count in the window of the %s', async (owner) => {
  const { store } = fixture.first;
  const limited = (name: string, amount: number) => {
    const request = hold(name, amount);
    return { ...request, budgets: budgetsOf(request, { [owner]: { window: { 2: 100 } } }) };
  };
  await store.holdCredit([limited('g1', 40)]);
  expect(await store.extendHolds([limited('g1', 101), limited('g1', 90)])).toMatchObject([
    { kind: 'budget_exceeded', usedNanoUsd: 40n },
    { kind: 'held' },
  ]);
  expect(await store.holdCredit([limited('g2', 11), limited('g3', 10)])).toMatchObject([
    { kind: 'budget_exceeded', usedNanoUsd: 90n },
    { kind: 'held' },
  ]);
});

it('a hundred parallel holds on two ledgers never exceed a window', async () => {
  const limited = (index: number) => {
    const request = hold(`g${index}`, 7);
    return { ...request, budgets: budgetsOf(request, { key: { window: { 24: 100 } } }) };
  };
  const outcomes = await Promise.all(
    Array.from({ length: 100 }, (_, index) =>
      (index % 2 === 0 ? fixture.first : fixture.second).store.holdCredit([limited(index)]),
    ),
  );
  expect(outcomes.flat().filter(({ kind }) => kind === 'held')).toHaveLength(14);
});

it('a hold without a window leaves no hours', async () => {
  await fixture.first.store.holdCredit([hold('g1', 10)]);
  await settle('g1', 5);
  const { rows } = await fixture.auditPool.query('select 1 from budget_hours where organization_id = $1', [
    organizationId,
  ]);
  expect(rows).toEqual([]);
});

it('hours are deleted once no window reaches them', async () => {
  await place('key', 'on the fast path', { 744: 100 }, hold('g1', 30), hold('g2', 30));
  await settle('g1', 30);
  const { history } = fixture.first;
  const hours = async () => {
    const { rows } = await fixture.auditPool.query<{ hour: string }>(
      'select hour::text as hour from budget_hours where organization_id = $1 order by 1',
      [organizationId],
    );
    return rows.map(({ hour }) => hour);
  };
  await fixture.clock.set(Date.UTC(2027, 3, 15, 12 + 743, 59) as UnixMs);
  await history.deleteOldBudgetHours(100);
  expect(await hours()).toEqual(['2027-04-15 12:00:00', 'infinity']);
  expect(await place('key', 'on the fast path', { 744: 100 }, hold('g3', 41))).toMatchObject([
    { kind: 'budget_exceeded', usedNanoUsd: 60n },
  ]);
  await fixture.clock.set(Date.UTC(2027, 3, 15, 12 + 746) as UnixMs);
  await history.deleteOldBudgetHours(100);
  expect(await hours()).toEqual(['infinity']);
  // A late settlement restores the hour, which the next round deletes.
  await settle('g2', 30);
  expect(await hours()).toEqual(['2027-04-15 12:00:00', 'infinity']);
  expect(await place('key', 'on the fast path', { 744: 100 }, hold('g4', 100))).toEqual([{ kind: 'held' }]);
});
