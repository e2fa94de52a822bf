import { retry } from '@gateway/base';
import type { BillingLedgerDefinition, Hold, HoldResult } from '@gateway/contracts/billing-ledger';
import { GatewayError, unavailableAsNoCapacity } from '@gateway/errors';
import { isRpcWithoutResponse, type RpcClient } from '@gateway/rpc';
import { createAdaptiveBatcher } from '@gateway/runtime';
import type { Extension } from '../core/generation/output-gate';

/** Extensions that arrive while a batch is in flight form the next one. */
const BATCHES = { maxBatchSize: 256, maxConcurrentBatches: 2, maxQueuedItems: 10_000 };
const TIMEOUT_MS = 2_000;
const BACKOFF = { firstMs: 100, maxMs: 1_000 };

/** Raises a hold to its amount. Repeated while the ledger is unavailable, since that is idempotent. */
export type ExtendHold = (hold: Hold) => Promise<Extension>;

export interface HoldExtenderOptions {
  /** How long an extension is repeated while the ledger is unavailable, in milliseconds. Then the stream ends. */
  readonly retryMs: number;
}

export function createHoldExtender(
  ledger: RpcClient<typeof BillingLedgerDefinition>,
  { retryMs }: HoldExtenderOptions,
): ExtendHold {
  const batcher = createAdaptiveBatcher<Hold, HoldResult>({
    ...BATCHES,
    run: async (holds) => {
      const call = ledger.extendHolds({ holds: [...holds] }, { timeoutMs: TIMEOUT_MS });
      return (await unavailableAsNoCapacity(call, isRpcWithoutResponse)).results;
    },
    overflow: () =>
      new GatewayError('no_capacity', { internalMessage: 'too many extensions of holds are queued' }),
  });
  return async (hold) => {
    const startedMs = performance.now();
    const isRetryable = (error: unknown) =>
      error instanceof GatewayError &&
      error.code === 'no_capacity' &&
      performance.now() - startedMs < retryMs;
    return extensionOf(await retry(() => batcher.submit(hold), { backoff: BACKOFF, isRetryable }));
  };
}

function extensionOf({ outcome }: HoldResult): Extension {
  switch (outcome?.$case) {
    case 'held':
      return { kind: 'granted' };
    case 'insufficientCredits':
      return { kind: 'refused', leftNanoUsd: outcome.value.availableNanoUsd };
    case 'budgetExceeded': {
      const { limitNanoUsd, usedNanoUsd } = outcome.value;
      return { kind: 'refused', leftNanoUsd: limitNanoUsd > usedNanoUsd ? limitNanoUsd - usedNanoUsd : 0n };
    }
    default:
      throw new GatewayError('internal_error', {
        internalMessage: `a hold cannot be extended: ${outcome?.$case === 'rejected' ? outcome.value.reason : outcome?.$case}`,
      });
  }
}
