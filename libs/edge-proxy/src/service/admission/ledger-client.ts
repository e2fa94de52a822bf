import {
  type BillingLedgerDefinition,
  type ClaimIdempotencyKeyRequest,
  type ClaimIdempotencyKeyResponse,
  type ClaimRef,
  type Hold,
  type HoldRef,
  type HoldResult,
} from '@gateway/contracts/billing-ledger';
import { GatewayError } from '@gateway/errors';
import { type RpcClient } from '@gateway/rpc';
import { createNaturalBatcher, type Logger } from '@gateway/runtime';
import { createLeaseKeeper } from './lease-keeper';
import { withoutDispatch } from './without-dispatch';
import { createReleaseQueue } from './release-queue';

export interface LedgerClient {
  /** Decides one hold. After a rejection it is unknown whether it was taken. */
  hold(hold: Hold): Promise<HoldResult>;
  /**
   * Gives a hold back in full, also one that the ledger is still about to take.
   * Delivered in the background, resolves when it is. Never rejects.
   */
  voidHold(hold: HoldRef): Promise<void>;
  /** After a rejection it is unknown whether the key was claimed. */
  claim(request: Omit<ClaimIdempotencyKeyRequest, 'leaseMs'>): Promise<ClaimIdempotencyKeyResponse>;
  /** Renews a claim until the returned function is called. */
  keepClaim(claim: ClaimRef): () => void;
  /** Keeps a claim whose request has ended well until its settlement has stored the answer. */
  outlastSettlement(claim: ClaimRef): Promise<void>;
  /** Lets go of a claim; delivered in the background, resolves when it is. Never rejects. */
  releaseClaim(claim: ClaimRef): Promise<void>;
  start(): void;
  /** Resolves when everything given back is delivered. */
  idle(): Promise<void>;
  stop(): void;
}

export interface LedgerClientOptions {
  readonly billingLedger: RpcClient<typeof BillingLedgerDefinition>;
  /** What a crashed edge leaves blocked by its claims, in milliseconds. */
  readonly claimLeaseMs: number;
  readonly now: () => number;
  readonly log: Logger;
  readonly onReleaseDropped: (count: number) => void;
}

const HOLD_TIMEOUT_MS = 5_000;
const VOID_TIMEOUT_MS = 5_000;
const CLAIM_TIMEOUT_MS = 5_000;
const MAX_BATCH_SIZE = 256;
/** One that is being decided and one that waits its turn: more would only make the batches smaller. */
const MAX_CONCURRENT_BATCHES = 2;
const MAX_QUEUED_HOLDS = 10_000;
const RENEWAL_TICK_MS = 1_000;
/** Settlements take a second; this is for the day when they do not. */
const SETTLING_LEASE_MS = 15 * 60_000;

export function createLedgerClient(options: LedgerClientOptions): LedgerClient {
  const { billingLedger, claimLeaseMs, now, log, onReleaseDropped } = options;

  const holds = createNaturalBatcher<Hold, HoldResult>({
    run: async (batch) => {
      const call = billingLedger.holdCredit({ holds: [...batch] }, { timeoutMs: HOLD_TIMEOUT_MS });
      return (await withoutDispatch(call)).results;
    },
    maxBatchSize: MAX_BATCH_SIZE,
    maxConcurrentBatches: MAX_CONCURRENT_BATCHES,
    maxQueuedItems: MAX_QUEUED_HOLDS,
    overflow: () => new GatewayError('no_capacity', { internalMessage: 'too many holds are waiting' }),
  });
  const voids = createReleaseQueue<HoldRef>({
    what: 'voided holds',
    send: async (batch) => {
      await billingLedger.voidHolds({ holds: [...batch] }, { timeoutMs: VOID_TIMEOUT_MS });
    },
    log,
    onDropped: onReleaseDropped,
  });
  const releasedClaims = createReleaseQueue<ClaimRef>({
    what: 'idempotency claims',
    // The ledger takes these one by one; they are as rare as failed requests with a key.
    send: async (batch) => {
      await Promise.all(
        batch.map((claim) =>
          billingLedger.releaseIdempotencyClaim({ claim }, { timeoutMs: CLAIM_TIMEOUT_MS }),
        ),
      );
    },
    log,
    onDropped: onReleaseDropped,
  });
  const claims = createLeaseKeeper<ClaimRef>({
    what: 'idempotency claims',
    renew: (refs) => renew(refs, claimLeaseMs),
    now,
    tickMs: RENEWAL_TICK_MS,
    log,
  });

  async function renew(refs: readonly ClaimRef[], leaseMs: number): Promise<void> {
    await billingLedger.renewIdempotencyClaims(
      { claims: [...refs], leaseMs },
      { timeoutMs: CLAIM_TIMEOUT_MS },
    );
  }

  async function outlastSettlement(claim: ClaimRef): Promise<void> {
    try {
      await renew([claim], SETTLING_LEASE_MS);
    } catch (error) {
      log.warn({ err: error }, 'an idempotency claim keeps its short lease until it is settled');
    }
  }

  return {
    hold: holds.submit,
    voidHold: voids.submit,
    claim: (request) =>
      withoutDispatch(
        billingLedger.claimIdempotencyKey(
          { ...request, leaseMs: claimLeaseMs },
          { timeoutMs: CLAIM_TIMEOUT_MS },
        ),
      ),
    keepClaim: (claim) => claims.keep(claim, claimLeaseMs),
    outlastSettlement,
    releaseClaim: releasedClaims.submit,
    start: claims.start,
    idle: async () => {
      await Promise.all([voids.idle(), releasedClaims.idle()]);
    },
    stop: claims.stop,
  };
}
