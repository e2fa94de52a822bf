import { createNaturalBatcher } from '@gateway/runtime';
import type { ClaimOutcome, ClaimRequest } from '../core/idempotency/claim';
import { MAX_BATCH_ROWS } from '../core/limits';
import { UnbookableError, type ClaimStore } from '../core/ports';
import { noCapacity } from './answering';

/** Two, so that one batch is decided while the other's commit reaches the disk. */
const MAX_CONCURRENT_BATCHES = 2;
const MAX_QUEUED_CLAIMS = 10_000;

export interface ClaimBatcher {
  /** Claims, together with what others claim meanwhile. */
  claim(request: ClaimRequest): Promise<ClaimOutcome>;
  idle(): Promise<void>;
}

export function createClaimBatcher(claims: Pick<ClaimStore, 'claimIdempotencyKeys'>): ClaimBatcher {
  const batcher = createNaturalBatcher<ClaimRequest, ClaimOutcome | UnbookableError>({
    run: decide,
    maxBatchSize: MAX_BATCH_ROWS,
    maxConcurrentBatches: MAX_CONCURRENT_BATCHES,
    maxQueuedItems: MAX_QUEUED_CLAIMS,
    overflow: () => noCapacity(`more than ${MAX_QUEUED_CLAIMS} claims wait`),
  });

  /** A batch that holds something that cannot be claimed is halved until that stands alone. */
  async function decide(requests: readonly ClaimRequest[]): Promise<(ClaimOutcome | UnbookableError)[]> {
    try {
      return [...(await claims.claimIdempotencyKeys(requests))];
    } catch (error) {
      if (!(error instanceof UnbookableError)) throw error;
      if (requests.length === 1) return [error];
      const middle = Math.ceil(requests.length / 2);
      return [...(await decide(requests.slice(0, middle))), ...(await decide(requests.slice(middle)))];
    }
  }

  return {
    async claim(request) {
      const outcome = await batcher.submit(request);
      if (outcome instanceof UnbookableError) throw outcome;
      return outcome;
    },
    idle: () => batcher.idle(),
  };
}
