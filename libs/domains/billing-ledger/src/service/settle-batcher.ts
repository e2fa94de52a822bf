import { createAdaptiveBatcher } from '@gateway/runtime';
import type { RejectedGeneration } from '../core/settlement/settlement';
import { MAX_BATCH_ROWS } from '../core/limits';
import { noCapacity } from './no-capacity';
import type { Settle, SettleItem } from './settler';

/** One, because concurrent settlements of an organization would wait for each other's row locks. */
const MAX_CONCURRENT_BATCHES = 1;
const MAX_QUEUED_SETTLEMENTS = 10_000;

export interface SettleBatcher {
  /** Settles in one batch with concurrent calls. Returns those of `items` that cannot be settled. */
  settleGenerations(items: readonly SettleItem[]): Promise<readonly RejectedGeneration[]>;
  idle(): Promise<void>;
}

/** Batches settlements by rpc, which arrive individually. The event log delivers batches already. */
export function createSettleBatcher(settle: Settle): SettleBatcher {
  const batcher = createAdaptiveBatcher<SettleItem, RejectedGeneration | undefined>({
    async run(items) {
      const rejected = new Map((await settle(items)).map((one) => [one.generationId, one]));
      return items.map(({ generation }) => rejected.get(generation.generationId));
    },
    maxBatchSize: MAX_BATCH_ROWS,
    maxConcurrentBatches: MAX_CONCURRENT_BATCHES,
    maxQueuedItems: MAX_QUEUED_SETTLEMENTS,
    overflow: () => noCapacity(`more than ${MAX_QUEUED_SETTLEMENTS} settlements are queued`),
  });

  return {
    async settleGenerations(items) {
      const outcomes = await Promise.all(items.map((item) => batcher.submit(item)));
      return outcomes.filter((rejected) => rejected !== undefined);
    },
    idle: () => batcher.idle(),
  };
}
