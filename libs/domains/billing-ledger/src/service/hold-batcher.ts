import { bisectBatch, type CancelSignal } from '@gateway/base';
import { createAdaptiveBatcher } from '@gateway/runtime';
import { GatewayError } from '@gateway/errors';
import type { HoldOutcome, HoldRequest } from '../core/credit/hold';
import { isUnbookable, type UnbookableError, type HoldExpectation, type LedgerStore } from '../core/ports';
import { MAX_BATCH_ROWS } from '../core/limits';
import { noCapacity } from './no-capacity';
import type { LedgerMetrics } from './metrics';

/** Two, so that one batch is decided while the other's commit reaches the disk. */
const MAX_CONCURRENT_BATCHES = 2;

/**
 * Holds that wait beyond this are refused; at full speed it is under a second of
 * work. An edge has 512 on the way at most, so only many edges come this far.
 */
const MAX_QUEUED_HOLDS = 10_000;

/** Beyond this all are forgotten: each costs a second round trip then, once. */
const MAX_REMEMBERED_REFUSALS = 10_000;

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
  const refusals = createLastRefusals();
  const batcher = createAdaptiveBatcher<Item, HoldOutcome | undefined>({
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
    const outcomeById = new Map<string, HoldOutcome>();
    await Promise.all(
      byExpectation(holds).map(async ([expectation, part]) => {
        const outcomes = await decide(part, expectation);
        part.forEach(({ holdId, organizationId }, index) => {
          const outcome = outcomes[index] as HoldOutcome;
          outcomeById.set(holdId, outcome);
          refusals.note(organizationId, outcome);
        });
      }),
    );
    metrics.holdBatch([...outcomeById.values()]);
    return items.map(({ hold }) => {
      const decided = wanted.get(hold.holdId);
      if (decided && decided.organizationId !== hold.organizationId) return { kind: 'foreign' };
      return outcomeById.get(hold.holdId);
    });
  }

  /** Whoever was refused is likely to be again, and shall not cost others a second round trip. */
  function byExpectation(holds: readonly HoldRequest[]): [HoldExpectation, readonly HoldRequest[]][] {
    const wasRefused = ({ organizationId }: HoldRequest) => refusals.wasLast(organizationId);
    const parts: [HoldExpectation, readonly HoldRequest[]][] = [
      ['held', holds.filter((hold) => !wasRefused(hold))],
      ['unknown', holds.filter(wasRefused)],
    ];
    return parts.filter(([, part]) => part.length > 0);
  }

  function decide(
    holds: readonly HoldRequest[],
    expectation: HoldExpectation,
  ): Promise<readonly HoldOutcome[]> {
    return bisectBatch<HoldRequest, HoldOutcome, UnbookableError>(
      holds,
      (part) => store.holdCredit(part, expectation),
      isUnbookable,
      (_, { message }) => [{ kind: 'impossible', reason: message }],
    );
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

/** Which organizations' last hold was refused for want of credit or by a budget. */
function createLastRefusals() {
  const refused = new Set<string>();
  return {
    wasLast: (organizationId: string) => refused.has(organizationId),
    note(organizationId: string, { kind }: HoldOutcome): void {
      if (kind === 'held') {
        refused.delete(organizationId);
      } else if (kind === 'insufficient_credits' || kind === 'daily_budget_exceeded') {
        if (refused.size >= MAX_REMEMBERED_REFUSALS) refused.clear();
        refused.add(organizationId);
      }
    },
  };
}
