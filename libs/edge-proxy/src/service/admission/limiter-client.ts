import {
  type Admission,
  type AdmissionResult,
  type FinishedAdmission,
  type RateLimitDefinition,
  type SlotRef,
} from '@gateway/contracts/rate-limit';
import { GatewayError } from '@gateway/errors';
import { type RpcClient } from '@gateway/rpc';
import { createNaturalBatcher, type Logger } from '@gateway/runtime';
import { createLeaseKeeper } from './lease-keeper';
import { withoutDispatch } from './without-dispatch';
import { createReleaseQueue } from './release-queue';

export interface LimiterClient {
  /** Decides one admission. After a rejection it is unknown whether it was taken. */
  admit(admission: Admission): Promise<AdmissionResult>;
  /** Ends an admission; delivered in the background, resolves when it is. Never rejects. */
  finish(finished: FinishedAdmission): Promise<void>;
  /** Renews a slot until the returned function is called. */
  keepSlot(slot: SlotRef, leaseMs: number): () => void;
  start(): void;
  /** Resolves when every finished admission is delivered. */
  idle(): Promise<void>;
  stop(): void;
}

export interface LimiterClientOptions {
  readonly rateLimit: RpcClient<typeof RateLimitDefinition>;
  readonly now: () => number;
  readonly log: Logger;
  readonly onReleaseDropped: (count: number) => void;
}

const ADMIT_TIMEOUT_MS = 2_000;
const FINISH_TIMEOUT_MS = 5_000;
const RENEW_TIMEOUT_MS = 2_000;
const MAX_BATCH_SIZE = 256;
/** One that is being decided and one on its way: more would only make the batches smaller. */
const MAX_CONCURRENT_BATCHES = 2;
const MAX_QUEUED_ADMISSIONS = 10_000;
const RENEWAL_TICK_MS = 500;

export function createLimiterClient(options: LimiterClientOptions): LimiterClient {
  const { rateLimit, now, log, onReleaseDropped } = options;

  const admissions = createNaturalBatcher<Admission, AdmissionResult>({
    run: async (batch) => {
      const call = rateLimit.admit({ admissions: [...batch] }, { timeoutMs: ADMIT_TIMEOUT_MS });
      return (await withoutDispatch(call)).results;
    },
    maxBatchSize: MAX_BATCH_SIZE,
    maxConcurrentBatches: MAX_CONCURRENT_BATCHES,
    maxQueuedItems: MAX_QUEUED_ADMISSIONS,
    overflow: () => new GatewayError('no_capacity', { internalMessage: 'too many admissions are waiting' }),
  });
  const finished = createReleaseQueue<FinishedAdmission>({
    what: 'finished admissions',
    send: async (batch) => {
      await rateLimit.finish({ admissions: [...batch] }, { timeoutMs: FINISH_TIMEOUT_MS });
    },
    log,
    onDropped: onReleaseDropped,
  });
  const slots = createLeaseKeeper<SlotRef>({
    what: 'concurrency slots',
    renew: async (refs) => {
      await rateLimit.renewSlots({ slots: [...refs] }, { timeoutMs: RENEW_TIMEOUT_MS });
    },
    now,
    tickMs: RENEWAL_TICK_MS,
    log,
  });

  return {
    admit: admissions.submit,
    finish: finished.submit,
    keepSlot: slots.keep,
    start: slots.start,
    idle: finished.idle,
    stop: slots.stop,
  };
}
