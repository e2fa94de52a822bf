import type {
  BillingLedgerDefinition,
  ClaimEnding,
  Hold,
  HoldResult,
} from '@gateway/contracts/billing-ledger';
import { nanoUsd } from '@gateway/base';
import { GatewayError, unavailableAsNoCapacity } from '@gateway/errors';
import { type RpcClient, isRpcWithoutResponse } from '@gateway/rpc';
import { createAdaptiveBatcher, type Logger } from '@gateway/runtime';
import { type ClaimRef, type HoldRef, type Ledger, limits } from '../../core';
import { createLeaseRenewer } from './lease-renewer';
import { createReleaseQueue } from './release-queue';

export interface LedgerPorts {
  readonly billingLedger: RpcClient<typeof BillingLedgerDefinition>;
  readonly now: () => number;
  readonly log: Logger;
  readonly onReleaseDropped: (count: number) => void;
}

export function createLedger(ports: LedgerPorts): Ledger {
  const { billingLedger, now, log, onReleaseDropped } = ports;

  const holds = createAdaptiveBatcher<Hold, HoldResult>({
    run: async (batch) => {
      const call = billingLedger.holdCredit({ holds: [...batch] }, { timeoutMs: limits.calls.holdMs });
      return (await unavailableAsNoCapacity(call, isRpcWithoutResponse)).results;
    },
    maxBatchSize: limits.batches.maxSize,
    maxConcurrentBatches: limits.batches.maxConcurrent,
    maxQueuedItems: limits.batches.maxQueued,
    overflow: () => new GatewayError('no_capacity', { internalMessage: 'too many holds are queued' }),
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
      await billingLedger.endIdempotencyClaims(
        { endedClaims: [...batch] },
        { timeoutMs: limits.calls.claimMs },
      );
    },
    log,
    onDropped: onReleaseDropped,
  });
  const claims = createLeaseRenewer<ClaimRef & { readonly leaseMs: number }>({
    what: 'idempotency claims',
    renew: async (leases) => {
      const [first] = leases;
      if (!first) return;
      const refs = leases.map(({ scope, generationId }) => ({ scope, generationId }));
      await billingLedger.renewIdempotencyClaims(
        { claims: refs, leaseMs: first.leaseMs },
        { timeoutMs: limits.calls.claimMs },
      );
    },
    now,
    tickMs: limits.leases.claimTickMs,
    log,
  });

  return {
    hold: holds.submit,
    voidHold: voids.submit,
    claim: (request) =>
      unavailableAsNoCapacity(
        billingLedger.claimIdempotencyKey(request, { timeoutMs: limits.calls.claimMs }),
        isRpcWithoutResponse,
      ),
    startClaimRenewal: (claim, leaseMs) => claims.add({ ...claim, leaseMs }, leaseMs),
    endClaim: (claim, ending) => endedClaims.submit({ claim, ending }),
    balance: async (organizationId, metadata) => {
      const call = { timeoutMs: limits.calls.readMs, metadata };
      const balance = await unavailableAsNoCapacity(
        billingLedger.getBalance({ organizationId }, call),
        isRpcWithoutResponse,
      );
      return {
        totalCreditsNanoUsd: nanoUsd(balance.totalCreditsNanoUsd),
        totalUsageNanoUsd: nanoUsd(balance.totalUsageNanoUsd),
        heldNanoUsd: nanoUsd(balance.heldNanoUsd),
      };
    },
    run: async (organizationId, runId, metadata) => {
      const call = { timeoutMs: limits.calls.readMs, metadata };
      const { run } = await unavailableAsNoCapacity(
        billingLedger.getRun({ organizationId, runId }, call),
        isRpcWithoutResponse,
      );
      return (
        run && {
          budgetNanoUsd: nanoUsd(run.budgetNanoUsd),
          spentNanoUsd: nanoUsd(run.spentNanoUsd),
          heldNanoUsd: nanoUsd(run.heldNanoUsd),
        }
      );
    },
    start: claims.start,
    idle: async () => {
      await Promise.all([voids.idle(), endedClaims.idle()]);
    },
    stop: claims.stop,
  };
}
