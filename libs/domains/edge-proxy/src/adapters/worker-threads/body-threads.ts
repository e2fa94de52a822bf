import { Worker } from 'node:worker_threads';
import { FairQueue } from '@gateway/base';
import { GatewayError } from '@gateway/errors';
import { createThreadPool } from '@gateway/runtime';
import {
  bodyExceedsMemory,
  type CheckedChatBody,
  type ChatBodyRules,
  type RefusedChatBody,
} from '@gateway/public-api';
import type { BodyCheck, BodyThreads } from '../../core';
import type { FromThread, ThreadData, ToThread } from './messages';
import { isOutOfMemory } from './out-of-memory';

export interface BodyThreadsOptions {
  /** Path of the bundled `body-worker.ts`; called when the first thread starts. */
  readonly program: () => string;
  /** Texts with more UTF-16 code units are counted by their size, see TokenCounter. */
  readonly maxTextLength: number;
  /** The size of one body, after decompression. Determines the memory of a thread. */
  readonly maxBodyBytes: number;
  /** Maximum; threads start on demand. */
  readonly threads?: number;
  /** Bodies queued for a thread, per owner and in total. */
  readonly maxQueuedPerOwner?: number;
  readonly maxQueued?: number;
  /** An idle thread is terminated after this long. */
  readonly idleThreadMs?: number;
  /** A check that takes longer fails. The largest body takes about 1 s. */
  readonly maxCheckMs?: number;
  /**
   * Heap limit of one thread. Far above what the largest body needs, since V8
   * terminates the whole process when a single allocation greatly exceeds it.
   */
  readonly maxHeapMib?: number;
}

const STOPPED = 'the validation threads are stopped';
const QUEUE_FULL = 'too many bodies are queued for validation';
const MIB = 1024 * 1024;
/** MiB of heap for each MiB of body; the worst bodies use 7. */
const MAX_HEAP_PER_BODY = 32;
const defaults = {
  threads: 2,
  maxQueuedPerOwner: 128,
  maxQueued: 256,
  idleThreadMs: 60_000,
  maxCheckMs: 60_000,
};

type CheckResult = CheckedChatBody | RefusedChatBody;

interface PendingCheck {
  readonly body: BodyCheck;
  readonly resolve: (result: CheckResult) => void;
  readonly reject: (error: unknown) => void;
}

/** BodyThreads over worker_threads. */
export function createBodyThreads(given: BodyThreadsOptions): BodyThreads {
  const options = {
    ...defaults,
    maxHeapMib: 256 + MAX_HEAP_PER_BODY * Math.ceil(given.maxBodyBytes / MIB),
    ...given,
  };
  const queue = new FairQueue<PendingCheck>({
    maxPerOwner: options.maxQueuedPerOwner,
    maxTotal: options.maxQueued,
    onDisplaced: ({ reject }) => reject(noCapacity(QUEUE_FULL)),
  });
  const { maxTextLength, maxHeapMib } = options;
  /** The models that each thread holds, compared by identity. */
  const modelsOf = new WeakMap<Worker, ChatBodyRules['models']>();
  let stopped = false;

  const pool = createThreadPool<PendingCheck, FromThread>({
    maxThreads: options.threads,
    idleMs: options.idleThreadMs,
    maxJobMs: options.maxCheckMs,
    start() {
      const workerData: ThreadData = { maxTextLength };
      const resourceLimits = { maxOldGenerationSizeMb: maxHeapMib };
      return new Worker(options.program(), { name: 'body-check', workerData, resourceLimits });
    },
    next: () => queue.take(),
    send,
    onReply({ resolve, reject }, reply) {
      if ('result' in reply) resolve(reply.result);
      else reject(checkFailed(reply.error));
    },
    onLost({ resolve, reject }, error) {
      if (stopped) reject(noCapacity(STOPPED));
      else if (isOutOfMemory(error)) resolve(bodyExceedsMemory());
      else reject(checkFailed(error));
    },
  });

  function check(body: BodyCheck): Promise<CheckResult> {
    const { owner, signal } = body;
    if (signal.aborted) return Promise.reject(signal.reason as Error);
    return new Promise((resolve, reject) => {
      const pending: PendingCheck = {
        body,
        resolve: (result) => {
          signal.removeEventListener('abort', onAbort);
          resolve(result);
        },
        reject: (error) => {
          signal.removeEventListener('abort', onAbort);
          reject(error as Error);
        },
      };
      // A running check finishes, and its result is discarded.
      const onAbort = (): void => {
        queue.remove(owner, pending);
        pending.reject(signal.reason);
      };
      if (stopped || !queue.add(owner, pending)) {
        reject(noCapacity(stopped ? STOPPED : QUEUE_FULL));
        return;
      }
      signal.addEventListener('abort', onAbort);
      pool.dispatch();
    });
  }

  function send(worker: Worker, id: number, { body: { chunks, rules } }: PendingCheck): void {
    const { models, policy, wantsSha256, format, dropsHostedTools } = rules;
    if (models !== modelsOf.get(worker)) {
      modelsOf.set(worker, models);
      post(worker, { kind: 'models', models: models && [...models.values()] }, []);
    }
    // Chunks that share their ArrayBuffer are copied instead.
    const transferred = chunks.filter(({ buffer, byteLength }) => buffer.byteLength === byteLength);
    const check = { id, chunks, policy, wantsSha256, format, dropsHostedTools };
    post(worker, { kind: 'check', ...check }, transferred);
  }

  function post(worker: Worker, message: ToThread, transferred: readonly Uint8Array[]): void {
    worker.postMessage(
      message,
      transferred.map(({ buffer }) => buffer as ArrayBuffer),
    );
  }

  async function stop(): Promise<void> {
    stopped = true;
    for (let next = queue.take(); next; next = queue.take()) next.reject(noCapacity(STOPPED));
    await pool.close();
  }

  return { check, stop };
}

function checkFailed(cause: unknown): GatewayError {
  return new GatewayError('internal_error', { internalMessage: 'the validation of a body failed', cause });
}

function noCapacity(internalMessage: string): GatewayError {
  return new GatewayError('no_capacity', { internalMessage });
}
