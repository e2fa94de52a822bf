import { GenerationFinished } from '@gateway/contracts/events';
import { createTestClock } from '@gateway/test-support';
import { LedgerUnavailableError } from '../core/ports';
import { makeFinished } from '../testing/ledger-fixture';
import { createSettleBatcher } from './settle-batcher';
import type { Settle, SettleItem } from './settler';

const clock = createTestClock();

function itemOf(generationId: string): SettleItem {
  return {
    generation: makeFinished({ generationId, cost: 1, at: clock.now() }),
    message: GenerationFinished.fromPartial({ generationId }),
  };
}

/** Records its batches; rejects one generation. */
function recordingSettle(unbookable?: string) {
  const batches: string[][] = [];
  const settle: Settle = async (items) => {
    batches.push(items.map(({ generation }) => generation.generationId));
    return batches.at(-1)?.includes(unbookable ?? '') ? [{ generationId: unbookable!, reason: 'no' }] : [];
  };
  return { settle, batches };
}

describe('settlements by RPC', () => {
  it('share one transaction when they are concurrent', async () => {
    const { settle, batches } = recordingSettle();
    const batcher = createSettleBatcher(settle);
    await Promise.all(['gen-1', 'gen-2', 'gen-3'].map((id) => batcher.settleGenerations([itemOf(id)])));
    expect(batches).toEqual([['gen-1', 'gen-2', 'gen-3']]);
  });

  it('each return only their own rejections', async () => {
    const { settle } = recordingSettle('gen-2');
    const batcher = createSettleBatcher(settle);
    const results = await Promise.all(
      ['gen-1', 'gen-2'].map((id) => batcher.settleGenerations([itemOf(id)])),
    );
    expect(results).toEqual([[], [{ generationId: 'gen-2', reason: 'no' }]]);
  });

  it('are all rejected when the ledger is unavailable, so that all are retried', async () => {
    const batcher = createSettleBatcher(() => Promise.reject(new LedgerUnavailableError('unavailable')));
    const results = await Promise.allSettled(
      ['gen-1', 'gen-2'].map((id) => batcher.settleGenerations([itemOf(id)])),
    );
    expect(results.map(({ status }) => status)).toEqual(['rejected', 'rejected']);
  });
});
