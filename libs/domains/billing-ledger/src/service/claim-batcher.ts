import { bisectBatch } from '@gateway/base';
import { createAdaptiveBatcher } from '@gateway/runtime';
import type { ClaimResult, ClaimRequest } from '../core/idempotency/claim';
import { MAX_BATCH_ROWS } from '../core/limits';
import { isUnbookable, UnbookableError, type ClaimStore } from '../core/ports';
import { noCapacity } from './no-capacity';

/** Two, so that one batch is decided while the other one's commit reaches the disk. */
const MAX_CONCURRENT_BATCHES = 2;
const MAX_QUEUED_CLAIMS = 10_000;

export interface ClaimBatcher {
  /** Claims in one batch with concurrent calls. */
  claim(request: ClaimRequest): Promise<ClaimResult>;
  idle(): Promise<void>;
}

export function createClaimBatcher(claims: Pick<ClaimStore, 'claimIdempotencyKeys'>): ClaimBatcher {
  const batcher = createAdaptiveBatcher<ClaimRequest, ClaimResult | UnbookableError>({
    run: (requests) =>
      bisectBatch<ClaimRequest, ClaimResult | UnbookableError, UnbookableError>(
        requests,
        (part) => claims.claimIdempotencyKeys(part),
        isUnbookable,
        (_, error) => [error],
      ),
    maxBatchSize: MAX_BATCH_ROWS,
    maxConcurrentBatches: MAX_CONCURRENT_BATCHES,
    maxQueuedItems: MAX_QUEUED_CLAIMS,
    overflow: () => noCapacity(`more than ${MAX_QUEUED_CLAIMS} claims are queued`),
  });

  return {
    async claim(request) {
      const result = await batcher.submit(request);
      if (result instanceof UnbookableError) throw result;
      return result;
    },
    idle: () => batcher.idle(),
  };
}
