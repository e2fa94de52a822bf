import { withTimeout } from '@gateway/base';
import {
  LimitType,
  type Admission,
  type AdmissionResult,
  type FinishedAdmission,
  type RateLimitDefinition,
} from '@gateway/contracts/rate-limit';
import { GatewayError, unavailableAsNoCapacity } from '@gateway/errors';
import { type RpcClient, isRpcWithoutResponse } from '@gateway/rpc';
import { createAdaptiveBatcher, type Logger } from '@gateway/runtime';
import { limits, type RateLimiter, type SlotRef } from '../../core';
import { createLeaseRenewer } from './lease-renewer';
import { createReleaseQueue } from './release-queue';

const { maxResponseDelayMs } = limits.releases;

export interface RateLimiterPorts {
  readonly rateLimit: RpcClient<typeof RateLimitDefinition>;
  readonly now: () => number;
  readonly log: Logger;
  readonly onReleaseDropped: (count: number) => void;
}

export function createRateLimiter(ports: RateLimiterPorts): RateLimiter {
  const { rateLimit, now, log, onReleaseDropped } = ports;

  const admissions = createAdaptiveBatcher<Admission, AdmissionResult>({
    run: async (batch) => {
      const call = rateLimit.admit({ admissions: [...batch] }, { timeoutMs: limits.calls.admitMs });
      return (await unavailableAsNoCapacity(call, isRpcWithoutResponse)).results;
    },
    maxBatchSize: limits.batches.maxSize,
    maxConcurrentBatches: limits.batches.maxConcurrent,
    maxQueuedItems: limits.batches.maxQueued,
    overflow: () => new GatewayError('no_capacity', { internalMessage: 'too many admissions are queued' }),
  });
  const finished = createReleaseQueue<FinishedAdmission>({
    what: 'finished admissions',
    send: async (batch) => {
      await rateLimit.finish({ admissions: [...batch] }, { timeoutMs: limits.calls.finishAdmissionMs });
    },
    log,
    onDropped: onReleaseDropped,
  });
  const slots = createLeaseRenewer<SlotRef>({
    what: 'concurrency slots',
    renew: async (refs) => {
      await rateLimit.renewSlots({ slots: [...refs] }, { timeoutMs: limits.calls.renewSlotsMs });
    },
    now,
    tickMs: limits.leases.slotTickMs,
    log,
  });

  /** By organization with unconfirmed finishes; resolves when rate-limit has confirmed all of them. */
  const unconfirmed = new Map<string, Promise<void>>();

  async function decide(admission: Admission): Promise<AdmissionResult> {
    const result = await admissions.submit(admission);
    if (result.outcome?.$case !== 'undecided') return result;
    throw new GatewayError('no_capacity', { internalMessage: 'rate-limit could not decide the admission' });
  }

  // Batches of admissions can overtake those of finished requests. So a client that sends its next
  // request right after a response could be refused for the tokens and slot of that response's request.
  async function admit(admission: Admission): Promise<AdmissionResult> {
    const earlierConfirmed = unconfirmed.get(admission.organizationId);
    const result = await decide(admission);
    if (earlierConfirmed === undefined || !isRefusedForSlotOrTokens(result)) return result;
    await withTimeout(earlierConfirmed, maxResponseDelayMs, 'finishing admissions').catch(() => {});
    return decide(admission);
  }

  function finish(admission: FinishedAdmission): Promise<void> {
    const { organizationId } = admission;
    const delivery = finished.submit(admission);
    const earlier = unconfirmed.get(organizationId);
    const confirmed = earlier === undefined ? delivery : earlier.then(() => delivery);
    unconfirmed.set(organizationId, confirmed);
    void confirmed.then(() => {
      if (unconfirmed.get(organizationId) === confirmed) unconfirmed.delete(organizationId);
    });
    return delivery;
  }

  return {
    admit,
    finish,
    startSlotRenewal: slots.add,
    start: slots.start,
    idle: finished.idle,
    stop: slots.stop,
  };
}

/** Finished requests free their slots and unused tokens, but stay counted as requests. */
function isRefusedForSlotOrTokens({ outcome }: AdmissionResult): boolean {
  return outcome?.$case === 'refused' && outcome.value.limitType !== LimitType.LIMIT_TYPE_REQUESTS;
}
