import { createAdaptiveBatcher } from '@gateway/runtime';
import type { HoldRef } from '../core/credit/hold';
import type { LedgerStore } from '../core/ports';
import { MAX_BATCH_ROWS } from '../core/limits';
import { noCapacity } from './no-capacity';
import type { LedgerMetrics } from './metrics';

const MAX_CONCURRENT_BATCHES = 1;
const MAX_QUEUED_VOIDS = 10_000;

export interface VoidBatcher {
  voidHolds(holds: readonly HoldRef[]): Promise<void>;
  idle(): Promise<void>;
}

/** Voids holds in one batch with concurrent calls. */
export function createVoidBatcher(store: LedgerStore, metrics: LedgerMetrics): VoidBatcher {
  const batcher = createAdaptiveBatcher<HoldRef, void>({
    async run(holds) {
      metrics.voided('caller', await store.voidHolds(holds));
      return holds.map(() => undefined);
    },
    maxBatchSize: MAX_BATCH_ROWS,
    maxConcurrentBatches: MAX_CONCURRENT_BATCHES,
    maxQueuedItems: MAX_QUEUED_VOIDS,
    overflow: () => noCapacity(`more than ${MAX_QUEUED_VOIDS} voids are queued`),
  });

  return {
    async voidHolds(holds) {
      await Promise.all(holds.map((hold) => batcher.submit(hold)));
    },
    idle: () => batcher.idle(),
  };
}
