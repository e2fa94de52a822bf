import type { CancelSignal } from '@gateway/base';
import { createNaturalBatcher } from '@gateway/runtime';
import { GatewayError } from '@gateway/errors';
import type { HoldOutcome, HoldRequest } from '../core/credit/hold';
import { UnbookableError, type LedgerStore } from '../core/ports';
import { MAX_BATCH_ROWS } from '../core/limits';
import { noCapacity } from './answering';
import type { LedgerMetrics } from './metrics';

/** Two, so that one batch is decided while the other's commit reaches the disk. */
const MAX_CONCURRENT_BATCHES = 2;

/**
 * Holds that wait beyond this are refused; at full speed it is under a second of
 * work. An edge has 512 on the way at most, so only many edges come this far.
 */
const MAX_QUEUED_HOLDS = 10_000;

export interface HoldBatcher {
  /**
   * Decides in the order given, together with what others ask for meanwhile.
   * What is decided already keeps its place. When it rejects, some of the holds
   * may have been taken.
   */
  holdAll(
    holds: readonly (HoldRequest | HoldOutcome)[],
    signal: CancelSignal,
  ): Promise<readonly HoldOutcome[]>;
  idle(): Promise<void>;
}

interface Item {
  readonly hold: HoldRequest;
  readonly signal: CancelSignal;
}

export function createHoldBatcher(store: LedgerStore, metrics: LedgerMetrics): HoldBatcher {
  const batcher = createNaturalBatcher<Item, HoldOutcome | undefined>({
    run,
    maxBatchSize: MAX_BATCH_ROWS,
    maxConcurrentBatches: MAX_CONCURRENT_BATCHES,
    maxQueuedItems: MAX_QUEUED_HOLDS,
    overflow: () => noCapacity(`more than ${MAX_QUEUED_HOLDS} holds wait`),
  });

  /** A hold nobody waits for any more is not taken; one asked for twice is taken once. */
  async function run(items: readonly Item[]): Promise<(HoldOutcome | undefined)[]> {
    const wanted = new Map<string, HoldRequest>();
    for (const { hold, signal } of items) {
      if (!signal.aborted && !wanted.has(hold.holdId)) wanted.set(hold.holdId, hold);
    }
    const holds = [...wanted.values()];
    if (holds.length === 0) return items.map(() => undefined);
    const outcomes = await decide(holds);
    metrics.holdBatch(outcomes);
    const outcomeById = new Map(holds.map((hold, index) => [hold.holdId, outcomes[index]]));
    return items.map(({ hold }) => {
      const decided = wanted.get(hold.holdId);
      if (decided && decided.organizationId !== hold.organizationId) return { kind: 'foreign' };
      return outcomeById.get(hold.holdId);
    });
  }

  /** A batch that holds something unbookable is halved until that stands alone. */
  async function decide(holds: readonly HoldRequest[]): Promise<readonly HoldOutcome[]> {
    try {
      return await store.holdCredit(holds);
    } catch (error) {
      if (!(error instanceof UnbookableError)) throw error;
      if (holds.length === 1) return [{ kind: 'impossible', reason: error.message }];
      const middle = Math.ceil(holds.length / 2);
      return [...(await decide(holds.slice(0, middle))), ...(await decide(holds.slice(middle)))];
    }
  }

  return {
    async holdAll(holds, signal) {
      const outcomes = await Promise.all(
        holds.map((hold) => ('kind' in hold ? hold : batcher.submit({ hold, signal }))),
      );
      return outcomes.map((outcome) => {
        if (outcome) return outcome;
        throw new GatewayError('request_timeout', { internalMessage: 'cancelled before its hold' });
      });
    },
    idle: () => batcher.idle(),
  };
}
