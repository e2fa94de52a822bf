import {
  type BillingLedgerDefinition,
  type ClaimEnding,
  type ClaimIdempotencyKeyRequest,
  type ClaimIdempotencyKeyResponse,
  type ClaimRef,
  type Hold,
  type HoldRef,
  type HoldResult,
} from '@gateway/contracts/billing-ledger';
import { type IdempotentEnding } from '@gateway/contracts/events';
import { GatewayError, unavailableAsNoCapacity } from '@gateway/errors';
import { isRpcWithoutResponse, type RpcClient } from '@gateway/rpc';
import { createAdaptiveBatcher, type Logger } from '@gateway/runtime';
import { limits } from '../settings';
import { createLeaseKeeper } from './lease-keeper';
import { createReleaseQueue } from './release-queue';

export interface LedgerClient {
  /** Decides one hold. After a rejection it is unknown whether it was reserved. */
  hold(hold: Hold): Promise<HoldResult>;
  /**
   * Releases a hold in full, also one that the ledger is still about to take.
   * Delivered in the background, resolves when it is. Never rejects.
   */
  voidHold(hold: HoldRef): Promise<void>;
  /** After a rejection it is unknown whether the key was claimed. */
  claim(request: Omit<ClaimIdempotencyKeyRequest, 'leaseMs'>): Promise<ClaimIdempotencyKeyResponse>;
  /** Renews a claim until the returned function is called. */
  keepClaim(claim: ClaimRef): () => void;
  /**
   * Says how the request of a claim ended; what becomes of its key is the
   * ledger's to decide. Delivered in the background, resolves when it is. Never rejects.
   */
  endClaim(claim: ClaimRef, ending: IdempotentEnding): Promise<void>;
  start(): void;
  /** Resolves when everything released is delivered. */
  idle(): Promise<void>;
  stop(): void;
}

export interface LedgerClientPorts {
  readonly billingLedger: RpcClient<typeof BillingLedgerDefinition>;
  readonly now: () => number;
  readonly log: Logger;
  readonly onReleaseDropped: (count: number) => void;
}

export interface LedgerClientOptions {
  /** What a crashed edge leaves blocked by its claims, in milliseconds. */
  readonly claimLeaseMs: number;
}

export function createLedgerClient(
  ports: LedgerClientPorts,
  { claimLeaseMs }: LedgerClientOptions,
): LedgerClient {
  const { billingLedger, now, log, onReleaseDropped } = ports;

  const holds = createAdaptiveBatcher<Hold, HoldResult>({
    run: async (batch) => {
      const call = billingLedger.holdCredit({ holds: [...batch] }, { timeoutMs: limits.calls.holdMs });
      return (await unavailableAsNoCapacity(call, isRpcWithoutResponse)).results;
    },
    maxBatchSize: limits.batches.maxSize,
    maxConcurrentBatches: limits.batches.maxConcurrent,
    maxQueuedItems: limits.batches.maxQueued,
    overflow: () => new GatewayError('no_capacity', { internalMessage: 'too many holds are waiting' }),
  });
  const voids = createReleaseQueue<HoldRef>({
    what: 'voided holds',
    send: async (batch) => {
      await billingLedger.voidHolds({ holds: [...batch] }, { timeoutMs: limits.calls.voidHoldMs });
    },
    log,
    onDropped: onReleaseDropped,
  });
  const endedClaims = createReleaseQueue<ClaimEnding>({
    what: 'idempotency claims',
    send: async (batch) => {
      await billingLedger.endIdempotencyClaims({ endings: [...batch] }, { timeoutMs: limits.calls.claimMs });
    },
    log,
    onDropped: onReleaseDropped,
  });
  const claims = createLeaseKeeper<ClaimRef>({
    what: 'idempotency claims',
    renew: (refs) => renew(refs, claimLeaseMs),
    now,
    tickMs: limits.leases.claimTickMs,
    log,
  });

  async function renew(refs: readonly ClaimRef[], leaseMs: number): Promise<void> {
    await billingLedger.renewIdempotencyClaims(
      { claims: [...refs], leaseMs },
      { timeoutMs: limits.calls.claimMs },
    );
  }

  return {
    hold: holds.submit,
    voidHold: voids.submit,
    claim: (request) =>
      unavailableAsNoCapacity(
        billingLedger.claimIdempotencyKey(
          { leaseMs: claimLeaseMs, ...request },
          { timeoutMs: limits.calls.claimMs },
        ),
        isRpcWithoutResponse,
      ),
    keepClaim: (claim) => claims.keep(claim, claimLeaseMs),
    endClaim: (claim, ending) => endedClaims.submit({ claim, ending }),
    start: claims.start,
    idle: async () => {
      await Promise.all([voids.idle(), endedClaims.idle()]);
    },
    stop: claims.stop,
  };
}
