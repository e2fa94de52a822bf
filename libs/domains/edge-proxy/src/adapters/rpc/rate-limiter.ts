import type {
  Admission,
  AdmissionResult,
  FinishedAdmission,
  RateLimitDefinition,
} from '@gateway/contracts/rate-limit';
import { GatewayError, unavailableAsNoCapacity } from '@gateway/errors';
import { type RpcClient, isRpcWithoutResponse } from '@gateway/rpc';
import { createAdaptiveBatcher, type Logger } from '@gateway/runtime';
import { limits, type RateLimiter, type SlotRef } from '../../core';
import { createLeaseRenewer } from './lease-renewer';
import { createReleaseQueue } from './release-queue';

type RpcRateLimiter = RateLimiter<Admission, AdmissionResult, FinishedAdmission>;

export interface RateLimiterPorts {
  readonly rateLimit: RpcClient<typeof RateLimitDefinition>;
  readonly now: () => number;
  readonly log: Logger;
  readonly onReleaseDropped: (count: number) => void;
}

export function createRateLimiter(ports: RateLimiterPorts): RpcRateLimiter {
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

  async function admit(admission: Admission): Promise<AdmissionResult> {
    const result = await admissions.submit(admission);
    if (result.outcome?.$case !== 'undecided') return result;
    throw new GatewayError('no_capacity', { internalMessage: 'rate-limit could not decide the admission' });
  }

  return {
    admit,
    finish: finished.submit,
    startSlotRenewal: slots.add,
    start: slots.start,
    idle: finished.idle,
    stop: slots.stop,
  };
}
