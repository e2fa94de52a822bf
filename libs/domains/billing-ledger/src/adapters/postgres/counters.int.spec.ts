import { DAY_MS, HOUR_MS, type UnixMs } from '@gateway/base';
import type { HoldRequest } from '../../core/credit/hold';
import {
  announce,
  budgetsOf,
  makeFinished,
  makeHold,
  type Amounts,
  type LedgerFixture,
} from '../../testing/ledger-fixture';
import { withLedger } from '../../testing/ledger-of-tests';

const DECISIONS = ['on the fast path', 'on the slow path'] as const;
/** Thursday, and not the first day of a month. */
const START = Date.UTC(2027, 3, 15, 12, 30);
/** The next day, week and month, each in the same longer periods. */
const NEXT = {
  day: START + DAY_MS,
  week: Date.UTC(2027, 3, 19),
  month: Date.UTC(2027, 4, 1),
} as const;

let fixture: LedgerFixture;
let organizationId: string;
let refusedHolds = 0;
withLedger((ledger) => ({ fixture, organizationId } = ledger), { at: START });

const idOf = (name: string) => `${organizationId}-${name}`;
const settle = (name: string, cost: number) =>
  fixture.first.store.settleGenerations(
    [makeFinished({ generationId: idOf(name), organizationId, cost, at: fixture.clock.now() })],
    announce,
  );

type Scope = 'organization' | 'project' | 'key' | 'end_user';

interface Counted {
  readonly limits: Partial<Record<Scope, Amounts>>;
  readonly endUser?: string;
}

function hold(name: string, amount: number, { limits, endUser }: Counted): HoldRequest {
  const request = makeHold({
    holdId: idOf(name),
    organizationId,
    amount,
    at: fixture.clock.now(),
    projectId: 'proj-a',
  });
  return { ...request, budgets: budgetsOf(request, limits, endUser) };
}

async function place(decision: (typeof DECISIONS)[number], ...holds: readonly HoldRequest[]) {
  const { store } = fixture.first;
  if (decision === 'on the fast path') return store.holdCredit(holds);
  const refused = hold(`refused-${(refusedHolds += 1)}`, 1e12, { limits: {} });
  return (await store.holdCredit([refused, ...holds])).slice(1);
}

/** The counters of the organization with a row. */
async function counters(): Promise<string[]> {
  const { rows } = await fixture.auditPool.query<{ counter: string }>(
    'select distinct counter from budget_hours where organization_id = $1 order by 1',
    [organizationId],
  );
  return rows.map(({ counter }) => counter);
}

describe.each(DECISIONS)('holds that are decided %s', (decision) => {
  const kindsOf = async (...holds: readonly HoldRequest[]) =>
    (await place(decision, ...holds)).map(({ kind }) => kind);

  describe.each(['organization', 'project', 'key'] as const)('with budgets of the %s for models', (owner) => {
    const limited = (models: Amounts['models']): Counted => ({ limits: { [owner]: { models } } });

    it.each(['day', 'week', 'month'] as const)('count in a %s, and not in the next one', async (period) => {
      const small = limited({ 'acme/*': { [period]: 100 } });
      expect(await kindsOf(hold('g1', 60, small), hold('g2', 60, small))).toEqual([
        'held',
        'budget_exceeded',
      ]);
      await settle('g1', 50);
      expect(await place(decision, hold('g3', 51, small), hold('g4', 50, small))).toMatchObject([
        { kind: 'budget_exceeded', scope: owner, period, model: 'acme/*', usedNanoUsd: 50n, heldNanoUsd: 0n },
        { kind: 'held' },
      ]);
      await settle('g4', 50);
      await fixture.clock.set((NEXT[period] - 1) as UnixMs);
      expect(await kindsOf(hold('g5', 1, small))).toEqual([
        // A day later is the next day.
        period === 'day' ? 'held' : 'budget_exceeded',
      ]);
      await fixture.clock.set((NEXT[period] + DAY_MS) as UnixMs);
      expect(await kindsOf(hold('g6', 99, small))).toEqual(['held']);
    });

    it('count in all time', async () => {
      const total = limited({ 'acme/m': { total: 100 } });
      expect(await kindsOf(hold('g1', 60, total), hold('g2', 60, total))).toEqual([
        'held',
        'budget_exceeded',
      ]);
      await settle('g1', 60);
      await fixture.clock.set((START + 400 * DAY_MS) as UnixMs);
      expect(await place(decision, hold('g3', 41, total), hold('g4', 40, total))).toMatchObject([
        { kind: 'budget_exceeded', period: 'total', model: 'acme/m', usedNanoUsd: 60n },
        { kind: 'held' },
      ]);
    });

    it('count in a rolling window', async () => {
      const window = limited({ 'acme/m': { window: { 2: 100 } } });
      expect(await kindsOf(hold('g1', 100, window))).toEqual(['held']);
      await settle('g1', 100);
      await fixture.clock.advance(HOUR_MS);
      expect(await place(decision, hold('g2', 1, window))).toMatchObject([
        { hours: 2, model: 'acme/m', freesAt: Date.UTC(2027, 3, 15, 14) },
      ]);
      await fixture.clock.advance(HOUR_MS);
      expect(await kindsOf(hold('g3', 100, window))).toEqual(['held']);
    });

    it('count only the holds that name them', async () => {
      const one = limited({ 'acme/one': { day: 100 } });
      const other = limited({ 'acme/other': { day: 100 } });
      expect(
        await kindsOf(hold('g1', 100, one), hold('g2', 100, other), hold('g3', 900, limited(undefined))),
      ).toEqual(['held', 'held', 'held']);
      expect(await kindsOf(hold('g4', 1, one), hold('g5', 1, other))).toEqual([
        'budget_exceeded',
        'budget_exceeded',
      ]);
    });

    it('are named before the budget for all models', async () => {
      const both: Counted = { limits: { [owner]: { day: 10, models: { 'acme/*': { day: 10 } } } } };
      expect(await place(decision, hold('g1', 11, both))).toMatchObject([{ scope: owner, model: 'acme/*' }]);
    });
  });

  describe('with a budget of each end user', () => {
    const user = (endUser: string, amounts: Amounts): Counted => ({ limits: { end_user: amounts }, endUser });

    it('count for this end user only', async () => {
      const amounts = { month: 100 };
      expect(
        await kindsOf(hold('g1', 70, user('alice', amounts)), hold('g2', 70, user('bob', amounts))),
      ).toEqual(['held', 'held']);
      await settle('g1', 70);
      expect(
        await place(
          decision,
          hold('g3', 31, user('alice', amounts)),
          hold('g4', 30, user('alice', amounts)),
          hold('g5', 31, user('bob', amounts)),
          hold('g6', 100, user('', amounts)),
        ),
      ).toMatchObject([
        { kind: 'budget_exceeded', scope: 'end_user', period: 'month', usedNanoUsd: 70n },
        { kind: 'held' },
        { kind: 'budget_exceeded', scope: 'end_user', usedNanoUsd: 70n, heldNanoUsd: 70n },
        { kind: 'held' },
      ]);
    });

    it.each([
      ['a text of SQL', `'; drop table accounts; --`],
      ['a text of an array', '{a,"b\\'],
      ['a text of a row', '(a,"b",)'],
      ['the counter of a model', 'model/acme'],
      ['a long text', 'ü'.repeat(512)],
      ['an asterisk', '*'],
    ])('are exact for %s', async (_what, name) => {
      const amounts = { total: 100, day: 60 };
      expect(await kindsOf(hold('g1', 50, user(name, amounts)))).toEqual(['held']);
      await settle('g1', 50);
      expect(
        await place(decision, hold('g2', 11, user(name, amounts)), hold('g3', 60, user(`${name}x`, amounts))),
      ).toMatchObject([{ kind: 'budget_exceeded', period: 'day', usedNanoUsd: 50n }, { kind: 'held' }]);
      await fixture.clock.advance(DAY_MS);
      expect(await place(decision, hold('g4', 51, user(name, amounts)))).toMatchObject([
        { kind: 'budget_exceeded', period: 'total', usedNanoUsd: 50n },
      ]);
    });
  });
});

it('extensions count in the counters of their holds', async () => {
  const { store } = fixture.first;
  const limited = (name: string, amount: number) =>
    hold(name, amount, { limits: { key: { models: { 'acme/*': { day: 100 } } }, end_user: { total: 150 } } });
  await store.holdCredit([limited('g1', 40)]);
  expect(await store.extendHolds([limited('g1', 101), limited('g1', 90)])).toMatchObject([
    { kind: 'budget_exceeded', model: 'acme/*', usedNanoUsd: 40n },
    { kind: 'held' },
  ]);
  expect(await store.holdCredit([limited('g2', 11), limited('g3', 10)])).toMatchObject([
    { kind: 'budget_exceeded', usedNanoUsd: 90n },
    { kind: 'held' },
  ]);
});

it('a hundred parallel holds of one end user on two ledgers never exceed the budget, and do not affect another', async () => {
  const outcomes = await Promise.all(
    Array.from({ length: 100 }, (_, index) =>
      (index % 2 === 0 ? fixture.first : fixture.second).store.holdCredit([
        hold(`g${index}`, 7, {
          limits: { end_user: { day: 100 } },
          endUser: index % 10 === 0 ? 'other' : 'one',
        }),
      ]),
    ),
  );
  const heldOf = (isOther: boolean) =>
    outcomes.filter(([outcome], index) => outcome?.kind === 'held' && (index % 10 === 0) === isOther);
  expect([heldOf(false).length, heldOf(true).length]).toEqual([14, 10]);
});

it('counters without holds are deleted once no period reaches their last hour, those of all time stay', async () => {
  const user = (name: string, endUser: string, amounts: Amounts) =>
    hold(name, 10, { limits: { end_user: amounts }, endUser });
  await fixture.first.store.holdCredit([
    user('g1', 'settled', { day: 100 }),
    user('g2', 'voided', { month: 100 }),
    user('g3', 'open', { day: 100 }),
    user('g4', 'total', { total: 100 }),
  ]);
  await settle('g1', 10);
  await settle('g4', 10);
  await fixture.first.store.voidHolds([{ holdId: idOf('g2'), organizationId }]);
  await fixture.clock.set((START + 744 * HOUR_MS) as UnixMs);
  await fixture.first.history.deleteOldBudgetHours(100);
  expect(await counters()).toHaveLength(4);
  await fixture.clock.set((START + 746 * HOUR_MS) as UnixMs);
  await fixture.first.history.deleteOldBudgetHours(100);
  expect(await counters()).toEqual(['*key-a/user/total', 'key-a/user/open']);
  await settle('g3', 10);
  await fixture.first.history.deleteOldBudgetHours(100);
  expect(await counters()).toEqual(['*key-a/user/total']);
  // A late settlement of a voided hold.
  await settle('g2', 10);
  await fixture.first.history.deleteOldBudgetHours(100);
  expect(await counters()).toEqual(['*key-a/user/total']);
});
