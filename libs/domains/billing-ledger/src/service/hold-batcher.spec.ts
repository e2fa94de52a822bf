import { Cancellation } from '@gateway/base';
import { createMetrics } from '@gateway/runtime';
import { createTestClock } from '@gateway/test-support';
import type { HoldOutcome, HoldRequest } from '../core/credit/hold';
import { UnbookableError, type LedgerStore } from '../core/ports';
import { makeHold, usdNano } from '../testing/ledger-fixture';
import { createHoldBatcher } from './hold-batcher';
import { createLedgerMetrics } from './metrics';

const at = createTestClock().now();
const REFUSED: HoldOutcome = {
  kind: 'insufficient_credits',
  availableNanoUsd: usdNano(0),
  heldNanoUsd: usdNano(0),
};

/** Refuses the organization `poor`, throws for `unbookable`, and records every batch. */
function setUp() {
  const batches: string[] = [];
  const store: Pick<LedgerStore, 'holdCredit'> = {
    async holdCredit(holds) {
      batches.push(holds.map(({ organizationId }) => organizationId).join(' '));
      if (holds.some(({ organizationId }) => organizationId === 'unbookable')) {
        throw new UnbookableError('out of range');
      }
      return holds.map(({ organizationId }) => (organizationId === 'poor' ? REFUSED : { kind: 'held' }));
    },
  };
  const metrics = createLedgerMetrics(createMetrics({ processMetrics: false }));
  const batcher = createHoldBatcher(store as LedgerStore, metrics);
  async function holdFor(...organizations: string[]): Promise<string[]> {
    const holds = organizations.map((organizationId, index): HoldRequest =>
      makeHold({ holdId: `gen-${index}`, organizationId, amount: 1, at }),
    );
    const outcomes = await batcher.decideHolds(holds, new Cancellation());
    return outcomes.map(({ kind }) => kind);
  }
  return { batches, holdFor };
}

it('decides the holds of one call in one batch, in order', async () => {
  const { batches, holdFor } = setUp();
  expect(await holdFor('rich', 'poor', 'other')).toEqual(['held', 'insufficient_credits', 'held']);
  expect(await holdFor('poor', 'rich')).toEqual(['insufficient_credits', 'held']);
  expect(batches).toEqual(['rich poor other', 'poor rich']);
});

it('finds and refuses only the hold that cannot be stored; all others are decided', async () => {
  const { batches, holdFor } = setUp();
  expect(await holdFor('rich', 'unbookable', 'other')).toEqual(['held', 'invalid', 'held']);
  expect(batches).toEqual(['rich unbookable other', 'rich unbookable', 'rich', 'unbookable', 'other']);
});
