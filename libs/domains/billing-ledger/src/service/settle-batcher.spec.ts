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

/** Remembers the batches that it was given; rejects one generation for good. */
function recordingSettle(unbookable?: string) {
  const batches: string[][] = [];
  const settle: Settle = async (items) => {
    batches.push(items.map(({ generation }) => generation.generationId));
    return batches.at(-1)?.includes(unbookable ?? '') ? [{ generationId: unbookable!, reason: 'no' }] : [];
  };
  return { settle, batches };
}

describe('settlements by RPC', () => {
  it('that come together share one transaction', async () => {
    const { settle, batches } = recordingSettle();
    const batcher = createSettleBatcher(settle);
    await Promise.all(['gen-1', 'gen-2', 'gen-3'].map((id) => batcher.settleAll([itemOf(id)])));
    expect(batches).toEqual([['gen-1', 'gen-2', 'gen-3']]);
  });

  it('each learn of their own rejection only', async () => {
    const { settle } = recordingSettle('gen-2');
    const batcher = createSettleBatcher(settle);
    const answers = await Promise.all(['gen-1', 'gen-2'].map((id) => batcher.settleAll([itemOf(id)])));
    expect(answers).toEqual([[], [{ generationId: 'gen-2', reason: 'no' }]]);
  });

  it('are all told when the ledger is away, so that all come again', async () => {
    const batcher = createSettleBatcher(() => Promise.reject(new LedgerUnavailableError('away')));
    const answers = await Promise.allSettled(['gen-1', 'gen-2'].map((id) => batcher.settleAll([itemOf(id)])));
    expect(answers.map(({ status }) => status)).toEqual(['rejected', 'rejected']);
  });
});
