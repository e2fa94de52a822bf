import type { UnixMs } from '@gateway/base';
import { auditLedger } from '@gateway/ledger-audit';
import { createAuditEntry } from '@gateway/test-support';
import type { HoldRequest } from '../../core/credit/hold';
import {
  announce,
  createLedgerFixture,
  makeFinished,
  makeHold,
  usdNano,
  type LedgerFixture,
} from '../../testing/ledger-fixture';

/** The holds of an organization take the fast path if all are covered. A refused one in front forces the slow path. */
const DECISIONS = ['on the fast path', 'on the slow path'] as const;

let fixture: LedgerFixture;
let organizationId: string;
let at: UnixMs;
let counter = 0;

beforeAll(async () => {
  fixture = await createLedgerFixture();
  at = fixture.clock.now();
});

afterAll(() => fixture.close());

beforeEach(async () => {
  await fixture.clock.set(at);
  organizationId = `org-${(counter += 1)}`;
});

afterEach(async () => {
  expect((await auditLedger(fixture.first.pool)).faults).toEqual([]);
});

async function holdCredit(decision: (typeof DECISIONS)[number], holds: readonly HoldRequest[]) {
  const { store } = fixture.first;
  if (decision === 'on the fast path') return store.holdCredit(holds);
  const refused = hold(`refused-${(counter += 1)}`, 1e12);
  const [first, ...outcomes] = await store.holdCredit([refused, ...holds]);
  expect(first?.kind).toBe('insufficient_credits');
  return outcomes;
}

const credit = (amount: number) =>
  fixture.first.store.addCredit(
    { creditId: `credit-${organizationId}`, organizationId, amountNanoUsd: usdNano(amount), note: 'test' },
    createAuditEntry(),
  );
const hold = (name: string, amount: number, more = {}) =>
  makeHold({ holdId: `${organizationId}-${name}`, organizationId, amount, at, ...more });
const finished = (name: string, cost: number) =>
  makeFinished({ generationId: `${organizationId}-${name}`, organizationId, cost, at });
const settle = (...generations: ReturnType<typeof finished>[]) =>
  fixture.first.store.settleGenerations(generations, announce);
const ref = (name: string) => ({ holdId: `${organizationId}-${name}`, organizationId });

async function balance() {
  const { creditedNanoUsd, chargedNanoUsd, heldNanoUsd, availableNanoUsd } =
    await fixture.first.store.readBalance(organizationId);
  return [creditedNanoUsd, chargedNanoUsd, heldNanoUsd, availableNanoUsd].map(Number);
}

describe.each(DECISIONS)('holds that are decided %s', (decision) => {
  const place = (...holds: readonly HoldRequest[]) => holdCredit(decision, holds);
  const kindsOf = async (...holds: readonly HoldRequest[]) => (await place(...holds)).map(({ kind }) => kind);
  const inRun = (name: string, amount: number, budget?: number, more = {}) =>
    hold(name, amount, {
      runId: 'run-1',
      limits: { run: { total: budget } },
      ...more,
    });
  const readRun = (runId = 'run-1') => fixture.first.store.readRun(organizationId, runId);

  beforeEach(() => credit(1_000));

  it('refuses the first hold of a run without a budget, and creates no run', async () => {
    expect(await kindsOf(inRun('g1', 10))).toEqual(['unknown_run']);
    expect(await readRun()).toBeUndefined();
    expect(await balance()).toEqual([1_000, 0, 0, 1_000]);
  });

  it('holds against the budget that the first hold fixed, whatever later ones send', async () => {
    expect(await kindsOf(inRun('g1', 30, 50))).toEqual(['held']);
    expect(await kindsOf(inRun('g2', 20), inRun('g3', 1, 500))).toEqual(['held', 'budget_exceeded']);
    expect(await place(inRun('g4', 1, 500))).toEqual([
      {
        kind: 'budget_exceeded',
        scope: 'run',
        period: 'total',
        limitNanoUsd: 50n,
        usedNanoUsd: 50n,
        heldNanoUsd: 50n,
      },
    ]);
    expect(await readRun()).toMatchObject({ budgetNanoUsd: 50n, spentNanoUsd: 0n, heldNanoUsd: 50n });
  });

  it('fixes the budget with the first accepted hold of a batch', async () => {
    expect(await kindsOf(inRun('g1', 10), inRun('g2', 60, 50), inRun('g3', 30, 40), inRun('g4', 11))).toEqual(
      ['unknown_run', 'budget_exceeded', 'held', 'budget_exceeded'],
    );
    expect(await readRun()).toMatchObject({ budgetNanoUsd: 40n, heldNanoUsd: 30n });
  });

  it('keeps runs of two organizations with the same id apart', async () => {
    await kindsOf(inRun('g1', 50, 50));
    const other = await place(inRun('other', 1, 50, { organizationId: 'org-without-credit' }));
    expect(other).toMatchObject([{ kind: 'insufficient_credits' }]);
    expect(await fixture.first.store.readRun('org-without-credit', 'run-1')).toBeUndefined();
  });

  it('counts settlements, and frees what a void or a cheaper settlement releases', async () => {
    await kindsOf(inRun('g1', 30, 50), inRun('g2', 20));
    await settle(finished('g1', 12));
    expect(await readRun()).toMatchObject({ spentNanoUsd: 12n, heldNanoUsd: 20n });
    await fixture.first.store.voidHolds([ref('g2')]);
    expect(await readRun()).toMatchObject({ spentNanoUsd: 12n, heldNanoUsd: 0n });
    expect(await kindsOf(inRun('g3', 38), inRun('g4', 1))).toEqual(['held', 'budget_exceeded']);
  });

  it('counts a settlement above its hold, and one after its hold was voided', async () => {
    await kindsOf(inRun('above', 10, 50), inRun('late', 10));
    await settle(finished('above', 15));
    await fixture.first.store.voidHolds([ref('late')]);
    await settle(finished('late', 7));
    expect(await readRun()).toMatchObject({ spentNanoUsd: 22n, heldNanoUsd: 0n });
  });

  it('charges a settlement above its hold, and a late one, in full, and uses up the run', async () => {
    await kindsOf(inRun('late', 30, 50));
    await fixture.first.store.voidHolds([ref('late')]);
    await kindsOf(inRun('above', 20), inRun('open', 25));
    const above = await settle(finished('above', 40));
    expect(above.settlements).toMatchObject([{ costNanoUsd: 40n, chargedNanoUsd: 40n }]);
    expect((await settle(finished('late', 30))).settlements).toMatchObject([{ chargedNanoUsd: 30n }]);
    expect(await readRun()).toMatchObject({ budgetNanoUsd: 50n, spentNanoUsd: 70n, heldNanoUsd: 25n });
    expect(await balance()).toEqual([1_000, 70, 25, 905]);
    expect(await kindsOf(inRun('next', 1))).toEqual(['budget_exceeded']);
    await settle(finished('open', 25));
    expect(await readRun()).toMatchObject({ spentNanoUsd: 95n, heldNanoUsd: 0n });
    expect(await kindsOf(inRun('last', 1))).toEqual(['budget_exceeded']);
  });

  it('accepts a hold that names a smaller budget than it holds, once another is fixed', async () => {
    await kindsOf(inRun('g1', 10, 50));
    expect(await kindsOf(inRun('g2', 30, 5))).toEqual(['held']);
    expect(await readRun()).toMatchObject({ budgetNanoUsd: 50n, heldNanoUsd: 40n });
  });

  it('frees what overdue holds reserved', async () => {
    await kindsOf(inRun('g1', 50, 50, { lifetimeMs: 1_000 }));
    await fixture.clock.advance(1_001);
    expect(await fixture.first.store.voidOverdueHolds(100)).toBe(1);
    expect(await readRun()).toMatchObject({ spentNanoUsd: 0n, heldNanoUsd: 0n });
  });

  it('returns an open hold as held, without holding it again', async () => {
    await kindsOf(inRun('g1', 50, 50));
    expect(await kindsOf(inRun('g1', 50, 50))).toEqual(['held']);
    expect(await readRun()).toMatchObject({ heldNanoUsd: 50n });
  });
});

it('counts a generation that was never held against no run', async () => {
  await credit(100);
  await settle(finished('g1', 10));
  const { rows } = await fixture.first.pool.query('select from runs where organization_id = $1', [
    organizationId,
  ]);
  expect(rows).toEqual([]);
});
