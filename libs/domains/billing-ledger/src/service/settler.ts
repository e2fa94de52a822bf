import { WireType } from '@bufbuild/protobuf/wire';
import { bisectBatch, chunksWithin, type Clock, type ConsumerProgress } from '@gateway/base';
import { GenerationSettled, type GenerationFinished } from '@gateway/contracts/events';
import { isUnbookable, type UnbookableError, type Announce, type LedgerStore } from '../core/ports';
import { encodeMessage, encodeWith } from '@gateway/rpc';
import { MAX_BATCH_ROWS } from '../core/limits';
import type { FinishedGeneration, RejectedGeneration } from '../core/settlement/settlement';
import type { LedgerMetrics } from './metrics';

const BATCH = { max: MAX_BATCH_ROWS, measure: () => 1 };

/** The number of the field `finished` in GenerationSettled. */
const FINISHED_FIELD = 1;

/** A finished generation, parsed and as received. */
export interface SettleItem {
  readonly generation: FinishedGeneration;
  readonly message: GenerationFinished;
  /** The encoded message, if it arrived as an event. */
  readonly payload?: Uint8Array;
  /** Copied to the announcement, such as `traceparent`. */
  readonly headers?: Readonly<Record<string, string>>;
}

export interface SettlerPorts {
  readonly store: LedgerStore;
  readonly clock: Clock;
  readonly metrics: LedgerMetrics;
}

/** Settles generations and returns those that cannot be settled. Stores `progress` only if it returns none. */
export type Settle = (
  items: readonly SettleItem[],
  progress?: ConsumerProgress,
) => Promise<readonly RejectedGeneration[]>;

export function createSettler({ store, clock, metrics }: SettlerPorts): Settle {
  async function settle(
    items: readonly SettleItem[],
    progress?: ConsumerProgress,
  ): Promise<readonly RejectedGeneration[]> {
    const rejected: RejectedGeneration[] = [];
    const batches = partitionByPath(items).flatMap((group) => chunksWithin(group, BATCH));
    for (const [index, batch] of batches.entries()) {
      const isLast = index === batches.length - 1;
      // Only with the last effects, so not with a part of a batch either.
      const progressOf = (part: readonly SettleItem[]) =>
        isLast && rejected.length === 0 && part.length === batch.length ? progress : undefined;
      const run = (part: readonly SettleItem[]) => settleBatch(part, progressOf(part));
      rejected.push(...(await bisectBatch(batch, run, isUnbookable, reject)));
    }
    return rejected;
  }

  async function settleBatch(
    items: readonly SettleItem[],
    progress: ConsumerProgress | undefined,
  ): Promise<readonly RejectedGeneration[]> {
    const report = await store.settleGenerations(
      items.map((item) => item.generation),
      announceOf(items),
      progress,
    );
    metrics.settlementBatch(report);
    const endedAt = new Map(items.map(({ message }) => [message.generationId, endOf(message)]));
    for (const { generationId } of report.settlements) {
      metrics.settledAfter(clock.now() - (endedAt.get(generationId) ?? clock.now()));
    }
    return report.rejected;
  }

  function reject({ generation }: SettleItem, error: UnbookableError): readonly RejectedGeneration[] {
    const rejected = [{ generationId: generation.generationId, reason: error.message }];
    metrics.settlementBatch({ settlements: [], duplicates: 0, rejected });
    return rejected;
  }

  return settle;
}

/**
 * Generations with a claim need the slow path. So do those without usage, which
 * failed before their first event: the edge has voided their holds. They are not
 * batched with the others.
 */
function partitionByPath(items: readonly SettleItem[]): readonly (readonly SettleItem[])[] {
  const isSlow = ({ generation: { endedClaim, usage } }: SettleItem) =>
    endedClaim !== undefined || (usage.promptTokens === 0 && usage.completionTokens === 0);
  return [items.filter(isSlow), items.filter((item) => !isSlow(item))];
}

/** When the provider sent its last event, in Unix milliseconds. */
function endOf({ createdUnixMs, latencyMs, generationTimeMs }: GenerationFinished): number {
  return Number(createdUnixMs) + latencyMs + generationTimeMs;
}

function announceOf(items: readonly SettleItem[]): Announce {
  // The first of a repeated generation counts, as in decideSettlements.
  const byId = new Map<string, SettleItem>();
  for (const item of items) {
    if (!byId.has(item.generation.generationId)) byId.set(item.generation.generationId, item);
  }
  return ({ generationId, organizationId, costNanoUsd, chargedNanoUsd, prices }, postedUnixMs) => {
    const item = byId.get(generationId);
    if (!item) throw new Error(`settled a generation that is not in the batch: ${generationId}`);
    const payload = encodeSettled(item, {
      costNanoUsd,
      chargedNanoUsd,
      settledUnixMs: BigInt(postedUnixMs),
      prices,
      window: undefined,
    });
    return { key: organizationId, payload, headers: item.headers };
  };
}

/** Copies the received bytes where possible: encoding the message again would double the CPU cost of settlement. */
function encodeSettled(
  { message, payload }: SettleItem,
  settled: Omit<GenerationSettled, 'finished'>,
): Uint8Array {
  if (payload === undefined || message.endedClaim !== undefined) {
    const finished = { ...message, endedClaim: undefined };
    return encodeMessage(GenerationSettled, { finished, ...settled });
  }
  return encodeWith((writer) => {
    writer.tag(FINISHED_FIELD, WireType.LengthDelimited).bytes(payload);
    return GenerationSettled.encode({ finished: undefined, ...settled }, writer);
  });
}
