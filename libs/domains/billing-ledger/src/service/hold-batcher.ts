import { bisectBatch, type CancelSignal } from '@gateway/base';
import { createAdaptiveBatcher } from '@gateway/runtime';
import { GatewayError } from '@gateway/errors';
import type { HoldOutcome, HoldRequest } from '../core/credit/hold';
import { isUnbookable, type UnbookableError, type LedgerStore } from '../core/ports';
import { MAX_BATCH_ROWS } from '../core/limits';
import { noCapacity } from './no-capacity';
import type { LedgerMetrics } from './metrics';

/** Two, so that one batch is decided while the other one's commit reaches the disk. */
const MAX_CONCURRENT_BATCHES = 2;

/** Further holds are refused. This is less than a second of work; one edge has at most 512 in flight. */
const MAX_QUEUED_HOLDS = 10_000;

export interface HoldBatcher {
  /**
   * Decides in the given order, in one batch with the holds of concurrent calls. Outcomes among `holds` are
   * returned unchanged. After a rejection, some of the holds may have been placed.
   */
  decideHolds(
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
  const batcher = createAdaptiveBatcher<Item, HoldOutcome | undefined>({
    run,
    maxBatchSize: MAX_BATCH_ROWS,
    maxConcurrentBatches: MAX_CONCURRENT_BATCHES,
    maxQueuedItems: MAX_QUEUED_HOLDS,
    overflow: () => noCapacity(`more than ${MAX_QUEUED_HOLDS} holds are queued`),
  });

  /** Skips cancelled holds; places a repeated one once. */
  async function run(items: readonly Item[]): Promise<(HoldOutcome | undefined)[]> {
    const wanted = new Map<string, HoldRequest>();
    for (const { hold, signal } of items) {
      if (!signal.aborted && !wanted.has(hold.holdId)) wanted.set(hold.holdId, hold);
    }
    const holds = [...wanted.values()];
    if (holds.length === 0) return items.map(() => undefined);
    const outcomes = await decide(holds);
    const outcomeById = new Map(holds.map(({ holdId }, index) => [holdId, outcomes[index] as HoldOutcome]));
    metrics.holdBatch(outcomes);
    return items.map(({ hold }) => {
      const decided = wanted.get(hold.holdId);
      if (decided && decided.organizationId !== hold.organizationId) return { kind: 'foreign' };
      return outcomeById.get(hold.holdId);
    });
  }

  function decide(holds: readonly HoldRequest[]): Promise<readonly HoldOutcome[]> {
    return bisectBatch<HoldRequest, HoldOutcome, UnbookableError>(
      holds,
      (part) => store.holdCredit(part),
      isUnbookable,
      (_, { message }) => [{ kind: 'invalid', reason: message }],
    );
  }

  return {
    async decideHolds(holds, signal) {
      const outcomes = await Promise.all(
        holds.map((hold) => ('kind' in hold ? hold : batcher.submit({ hold, signal }))),
      );
      return outcomes.map((outcome) => {
        if (outcome) return outcome;
        throw new GatewayError('request_timeout', {
          internalMessage: 'cancelled before its hold was placed',
        });
      });
    },
    idle: () => batcher.idle(),
  };
}
