import { bisectBatch } from '@gateway/base';
import { createAdaptiveBatcher } from '@gateway/runtime';
import type { HoldOutcome, HoldRequest } from '../core/credit/hold';
import { MAX_BATCH_ROWS } from '../core/limits';
import { isUnbookable, type LedgerStore, type UnbookableError } from '../core/ports';
import type { LedgerMetrics } from './metrics';
import { noCapacity } from './no-capacity';

/** One, because concurrent extensions of an organization would wait for each other's row locks. */
const MAX_CONCURRENT_BATCHES = 1;
const MAX_QUEUED_EXTENSIONS = 10_000;

export interface ExtensionBatcher {
  /** Decides in the given order, in one batch with concurrent calls. Outcomes among `holds` are returned unchanged. */
  extendHolds(holds: readonly (HoldRequest | HoldOutcome)[]): Promise<readonly HoldOutcome[]>;
  idle(): Promise<void>;
}

export function createExtensionBatcher(store: LedgerStore, metrics: LedgerMetrics): ExtensionBatcher {
  const batcher = createAdaptiveBatcher<HoldRequest, HoldOutcome>({
    async run(holds) {
      const outcomes = await bisectBatch<HoldRequest, HoldOutcome, UnbookableError>(
        holds,
        (part) => store.extendHolds(part),
        isUnbookable,
        (_, { message }) => [{ kind: 'invalid', reason: message }],
      );
      metrics.extensionBatch(outcomes);
      return outcomes;
    },
    maxBatchSize: MAX_BATCH_ROWS,
    maxConcurrentBatches: MAX_CONCURRENT_BATCHES,
    maxQueuedItems: MAX_QUEUED_EXTENSIONS,
    overflow: () => noCapacity(`more than ${MAX_QUEUED_EXTENSIONS} extensions are queued`),
  });

  return {
    extendHolds: (holds) => Promise.all(holds.map((hold) => ('kind' in hold ? hold : batcher.submit(hold)))),
    idle: () => batcher.idle(),
  };
}
