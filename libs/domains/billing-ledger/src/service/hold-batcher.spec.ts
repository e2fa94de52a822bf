import { Cancellation } from '@gateway/base';
import { createMetrics } from '@gateway/runtime';
import { createTestClock } from '@gateway/test-support';
import type { HoldOutcome, HoldRequest } from '../core/credit/hold';
import { UnbookableError, type HoldExpectation, type LedgerStore } from '../core/ports';
import { makeHold, usdNano } from '../testing/ledger-rig';
import { createHoldBatcher } from './hold-batcher';
import { createLedgerMetrics } from './metrics';

const at = createTestClock().now();
const REFUSED: HoldOutcome = { kind: 'insufficient_credits', availableNanoUsd: usdNano(0) };

let taken = 0;

/** Refuses whoever is poor, and remembers what it was asked for. */
function setUp() {
  const poor = new Set<string>();
  const asked: (readonly [HoldExpectation | undefined, string])[] = [];
  const store: Pick<LedgerStore, 'holdCredit'> = {
    async holdCredit(holds, expectation) {
      asked.push([
        expectation,
        holds
          .map(({ organizationId }) => organizationId)
          .sort()
          .join(' '),
      ]);
      if (holds.some(({ organizationId }) => organizationId === 'unbookable')) {
        throw new UnbookableError('out of range');
      }
      return holds.map(({ organizationId }) => (poor.has(organizationId) ? REFUSED : { kind: 'held' }));
    },
  };
  const metrics = createLedgerMetrics(createMetrics({ processMetrics: false }));
  const batcher = createHoldBatcher(store as LedgerStore, metrics);
  async function holdFor(...organizations: string[]): Promise<string[]> {
    asked.length = 0;
    const holds = organizations.map((organizationId): HoldRequest =>
      makeHold({ holdId: `gen-${(taken += 1)}`, organizationId, amount: 1, at }),
    );
    const outcomes = await batcher.holdAll(holds, new Cancellation());
    return outcomes.map(({ kind }) => kind);
  }
  return { poor, asked, holdFor };
}

describe('an organization whose last hold was refused', () => {
  it('is decided apart from others, until it holds again', async () => {
    const { poor, asked, holdFor } = setUp();
    poor.add('poor');
    expect(await holdFor('rich', 'poor')).toEqual(['held', 'insufficient_credits']);
    expect(asked).toEqual([['held', 'poor rich']]);

    expect(await holdFor('poor', 'rich', 'other', 'poor')).toEqual([
      'insufficient_credits',
      'held',
      'held',
      'insufficient_credits',
    ]);
    expect([...asked].sort()).toEqual([
      ['held', 'other rich'],
      ['unknown', 'poor poor'],
    ]);

    poor.delete('poor');
    expect(await holdFor('poor', 'rich')).toEqual(['held', 'held']);
    expect(await holdFor('poor', 'rich')).toEqual(['held', 'held']);
    expect(asked).toEqual([['held', 'poor rich']]);
  });

  it('is no other that has no account, or cannot be booked', async () => {
    const { asked, holdFor } = setUp();
    expect(await holdFor('rich', 'unbookable', 'other')).toEqual(['held', 'impossible', 'held']);
    expect(await holdFor('rich', 'other')).toEqual(['held', 'held']);
    expect(asked).toEqual([['held', 'other rich']]);
  });
});
