import type { Budget, BudgetPeriod, BudgetScope } from '@gateway/base';
import type { HoldRequest } from '../../core/credit/hold';
import { budgetsOf, makeHold, type Amounts, type LedgerFixture } from '../../testing/ledger-fixture';
import { withLedger } from '../../testing/ledger-of-tests';

/** The order in which exceeded budgets are reported. */
const IN_ORDER = [
  ['run', 'total'],
  ['key', 'month'],
  ['key', 'total'],
  ['project', 'month'],
  ['project', 'total'],
  ['organization', 'month'],
  ['organization', 'total'],
  ['key', 'week'],
  ['project', 'week'],
  ['organization', 'week'],
  ['key', 'day'],
  ['project', 'day'],
  ['organization', 'day'],
] as const satisfies readonly (readonly [BudgetScope, BudgetPeriod])[];

const LIMITS: Partial<Record<BudgetScope, Amounts>> = {
  organization: { day: 10, week: 10, month: 10, total: 10 },
  project: { day: 10, week: 10, month: 10, total: 10 },
  key: { day: 10, week: 10, month: 10, total: 10 },
};

let fixture: LedgerFixture;
let organizationId: string;
withLedger((ledger) => ({ fixture, organizationId } = ledger));

const hold = (name: string, amount: number, more: Partial<HoldRequest> = {}): HoldRequest => ({
  ...makeHold({ holdId: `${organizationId}-${name}`, organizationId, amount, at: fixture.clock.now() }),
  ...more,
});
const withoutEach = (budgets: readonly Budget[]) =>
  IN_ORDER.map((_, count) =>
    budgets.filter(
      ({ scope, period }) =>
        IN_ORDER.findIndex((named) => named[0] === scope && named[1] === period) >= count,
    ),
  );
const owners = { keyId: 'key-1', projectId: 'proj-1', runId: 'run-1' };

describe('of all exceeded budgets, the same is reported first', () => {
  it('for a hold', async () => {
    const budgets = budgetsOf(owners, { ...LIMITS, run: { total: 10 } });
    const reported = [];
    for (const [index, some] of withoutEach(budgets).entries()) {
      const run = index === 0 ? 'run-1' : undefined;
      const [outcome] = await fixture.first.store.holdCredit([
        hold(`g${index}`, 11, { ...owners, runId: run, budgets: some.toReversed() }),
      ]);
      reported.push(outcome);
    }
    expect(reported).toMatchObject(IN_ORDER.map(([scope, period]) => ({ scope, period, limitNanoUsd: 10n })));
  });

  it('for an extension', async () => {
    const { store } = fixture.first;
    const run = budgetsOf(owners, { run: { total: 10 } });
    await store.holdCredit([
      hold('in-run', 1, { ...owners, budgets: run }),
      hold('other', 1, { keyId: 'key-1', projectId: 'proj-1' }),
    ]);
    const budgets = budgetsOf(owners, LIMITS);
    const reported = [];
    for (const [index, some] of withoutEach(budgets).entries()) {
      const [outcome] = await store.extendHolds([
        hold(index === 0 ? 'in-run' : 'other', 11, { budgets: some.toReversed() }),
      ]);
      reported.push(outcome);
    }
    expect(reported).toMatchObject(IN_ORDER.map(([scope, period]) => ({ scope, period, limitNanoUsd: 10n })));
  });
});

it('applies the lower of two amounts for a budget to all holds of a batch', async () => {
  const { store } = fixture.first;
  const limitedTo = (day: number) => ({ keyId: 'key-1', budgets: budgetsOf(owners, { key: { day } }) });
  const exceeded = { kind: 'budget_exceeded', limitNanoUsd: 10n, usedNanoUsd: 8n };
  const batch = [
    hold('new', 8, limitedTo(20)),
    hold('stale', 3, limitedTo(10)),
    hold('none', 3, { keyId: 'key-1' }),
  ];
  expect(await store.holdCredit(batch)).toMatchObject([{ kind: 'held' }, exceeded, exceeded]);
  expect(await store.extendHolds([hold('new', 11, limitedTo(10))])).toMatchObject([exceeded]);
  expect(await store.holdCredit([hold('alone', 3, limitedTo(20))])).toEqual([{ kind: 'held' }]);
});

it('counts for a key whose id needs quotes', async () => {
  const keyId = `k"e\\y,(1)'{}`;
  const limited = { keyId, budgets: budgetsOf({ ...owners, keyId }, { key: { total: 10 } }) };
  const kinds = async (name: string, amount: number) =>
    (await fixture.first.store.holdCredit([hold(name, amount, limited)])).map(({ kind }) => kind);
  expect(await kinds('g1', 10)).toEqual(['held']);
  expect(await kinds('g2', 1)).toEqual(['budget_exceeded']);
});

it('places the holds of an organization together, whatever another one lacks', async () => {
  const definition = await fixture.auditPool.query<{ text: string }>(
    `select pg_get_functiondef('hold_credit'::regproc) as text`,
  );
  const original = definition.rows[0]?.text ?? '';
  const check = `if p_organization_ids[i] = '${organizationId}' and i <> all (placed) then raise 'one by one'; end if;`;
  await fixture.auditPool.query(original.replace('decision := null;', `${check} decision := null;`));
  try {
    const poor = hold('poor', 1, { organizationId: 'org-without-credit' });
    expect(await fixture.first.store.holdCredit([poor, hold('g1', 5), hold('g2', 5)])).toMatchObject([
      { kind: 'insufficient_credits' },
      { kind: 'held' },
      { kind: 'held' },
    ]);
  } finally {
    await fixture.auditPool.query(original);
  }
});
