import { DAY_MS, type UnixMs } from '@gateway/base';
import type { HoldRequest } from '../../core/credit/hold';
import {
  announce,
  budgetsOf,
  makeFinished,
  makeHold,
  type Amounts,
  type HoldChanges,
  type LedgerFixture,
} from '../../testing/ledger-fixture';
import { withLedger } from '../../testing/ledger-of-tests';

/** The holds of an organization take the fast path if all are covered. A refused one in front forces the slow path. */
const DECISIONS = ['on the fast path', 'on the slow path'] as const;
const OWNERS = ['organization', 'project', 'key'] as const;

let fixture: LedgerFixture;
let organizationId: string;
let refusedHolds = 0;
withLedger((ledger) => ({ fixture, organizationId } = ledger));

const hold = (name: string, amount: number, more: HoldChanges = {}) =>
  makeHold({ holdId: `${organizationId}-${name}`, organizationId, amount, at: fixture.clock.now(), ...more });
const settle = (name: string, cost: number) => {
  const at = fixture.clock.now();
  const generation = makeFinished({ generationId: `${organizationId}-${name}`, organizationId, cost, at });
  return fixture.first.store.settleGenerations([generation], announce);
};
const voidHold = (name: string) =>
  fixture.first.store.voidHolds([{ holdId: `${organizationId}-${name}`, organizationId }]);

describe.each(DECISIONS)('holds that are decided %s', (decision) => {
  describe.each(OWNERS)('with budgets of the %s', (owner) => {
    async function place(budgets: Amounts, ...holds: readonly HoldRequest[]) {
      const budgeted = holds.map((each) => {
        const request = { ...each, projectId: owner === 'project' ? 'proj-a' : undefined };
        return { ...request, budgets: budgetsOf(request, { [owner]: budgets }) };
      });
      const { store } = fixture.first;
      if (decision === 'on the fast path') return store.holdCredit(budgeted);
      const refused = hold(`refused-${(refusedHolds += 1)}`, 1e12);
      return (await store.holdCredit([refused, ...budgeted])).slice(1);
    }
    const kindsOf = async (budgets: Amounts, ...holds: readonly HoldRequest[]) =>
      (await place(budgets, ...holds)).map(({ kind }) => kind);

    it.each(['week', 'month', 'total'] as const)('count holds and charges of the %s', async (period) => {
      const budgets = { [period]: 100 };
      expect(await kindsOf(budgets, hold('g1', 60), hold('g2', 60), hold('g3', 40))).toEqual([
        'held',
        'budget_exceeded',
        'held',
      ]);
      await settle('g1', 20);
      await voidHold('g3');
      expect(await place(budgets, hold('g4', 80), hold('g5', 1))).toEqual([
        { kind: 'held' },
        {
          kind: 'budget_exceeded',
          scope: owner,
          period,
          limitNanoUsd: 100n,
          usedNanoUsd: 100n,
          heldNanoUsd: 80n,
        },
      ]);
    });

    it('count what was spent before the budget was set', async () => {
      expect(await kindsOf({}, hold('g1', 60))).toEqual(['held']);
      await settle('g1', 60);
      for (const period of ['week', 'month', 'total'] as const) {
        expect(await place({ [period]: 100 }, hold(`more-${period}`, 41))).toMatchObject([
          { kind: 'budget_exceeded', period, usedNanoUsd: 60n, heldNanoUsd: 0n },
        ]);
      }
      expect(await kindsOf({ week: 100, month: 100, total: 100 }, hold('fits', 40))).toEqual(['held']);
    });

    it('count a month from its first to its last day, by the clock of the database', async () => {
      const budgets = { month: 100 };
      await fixture.clock.set(Date.UTC(2027, 3, 1, 0, 0, 1) as UnixMs);
      expect(await kindsOf(budgets, hold('first', 50))).toEqual(['held']);
      await settle('first', 50);
      await fixture.clock.set((Date.UTC(2027, 4, 1) - 1_000) as UnixMs);
      expect(await kindsOf(budgets, hold('last', 50))).toEqual(['held']);
      expect(await kindsOf(budgets, hold('too-much', 1))).toEqual(['budget_exceeded']);
      await fixture.clock.set(Date.UTC(2027, 4, 1, 0, 0, 1) as UnixMs);
      // It was held, and so counts, in the month before.
      await settle('last', 50);
      expect(await kindsOf(budgets, hold('next', 100))).toEqual(['held']);
    });

    it('count a week from Monday to Sunday, also across a month, by the clock of the database', async () => {
      const budgets = { week: 100 };
      await fixture.clock.set(Date.UTC(2027, 2, 29, 0, 0, 1) as UnixMs);
      expect(await kindsOf(budgets, hold('monday', 50))).toEqual(['held']);
      await settle('monday', 50);
      await fixture.clock.set((Date.UTC(2027, 3, 5) - 1_000) as UnixMs);
      expect(await kindsOf(budgets, hold('sunday', 50))).toEqual(['held']);
      expect(await kindsOf(budgets, hold('too-much', 1))).toEqual(['budget_exceeded']);
      await fixture.clock.set(Date.UTC(2027, 3, 5, 0, 0, 1) as UnixMs);
      // It was held, and so counts, in the week before.
      await settle('sunday', 50);
      expect(await kindsOf(budgets, hold('next', 100))).toEqual(['held']);
    });

    it('never reset a total', async () => {
      expect(await kindsOf({ total: 100 }, hold('g1', 100))).toEqual(['held']);
      await settle('g1', 100);
      await fixture.clock.advance(400 * DAY_MS);
      expect(await kindsOf({ total: 100 }, hold('g2', 1))).toEqual(['budget_exceeded']);
    });

    it('name the longer budget if the day is used up as well', async () => {
      const budgets = { day: 10, week: 10, month: 10, total: 10 };
      expect(await kindsOf(budgets, hold('g1', 10))).toEqual(['held']);
      expect(await place(budgets, hold('g2', 1))).toMatchObject([
        { kind: 'budget_exceeded', period: 'month' },
      ]);
      expect(await place({ day: 10, week: 10 }, hold('g3', 1))).toMatchObject([
        { kind: 'budget_exceeded', period: 'week' },
      ]);
      expect(await place({ day: 10 }, hold('g4', 1))).toMatchObject([
        { kind: 'budget_exceeded', period: 'day' },
      ]);
    });
  });
});
