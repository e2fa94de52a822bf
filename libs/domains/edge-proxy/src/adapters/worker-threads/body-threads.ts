import { Worker } from 'node:worker_threads';
import { GatewayError } from '@gateway/errors';
import { createThreadPool, threadProgram } from '@gateway/runtime';
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
  readonly program?: () => string;
  /** Texts with more UTF-16 code units are counted by their size, see TokenCounter. */
  readonly maxTextLength: number;
  /** The size of one body, after decompression. Determines the memory of a thread. */
  readonly maxBodyBytes: number;
  /** Maximum; threads start on demand. */
  readonly threads?: number;
  /** Bodies that wait for a thread. */
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

const MIB = 1024 * 1024;
/** MiB of heap for each MiB of body; the worst bodies use 7. */
const MAX_HEAP_PER_BODY = 32;
const defaults = {
  program: () => threadProgram('body-worker.js'),
  threads: 2,
  idleThreadMs: 60_000,
  maxCheckMs: 60_000,
};

type CheckResult = CheckedChatBody | RefusedChatBody;

/** BodyThreads over worker_threads. */
export function createBodyThreads(given: BodyThreadsOptions): BodyThreads {
  const options = {
    ...defaults,
    maxHeapMib: 256 + MAX_HEAP_PER_BODY * Math.ceil(given.maxBodyBytes / MIB),
    ...given,
  };
  const { maxTextLength, maxHeapMib } = options;
  /** The models that each thread holds, compared by identity. */
  const modelsOf = new WeakMap<Worker, ChatBodyRules['models']>();

  const pool = createThreadPool<BodyCheck, FromThread, CheckResult>({
    maxThreads: options.threads,
    idleMs: options.idleThreadMs,
    maxJobMs: options.maxCheckMs,
    start() {
      const workerData: ThreadData = { maxTextLength };
      const resourceLimits = { maxOldGenerationSizeMb: maxHeapMib };
      return new Worker(options.program(), { name: 'body-check', workerData, resourceLimits });
    },
    send,
    resultOf(reply) {
      if ('error' in reply) throw checkFailed(reply.error);
      return reply.result;
    },
    lost(error) {
      if (isOutOfMemory(error)) return bodyExceedsMemory();
      throw checkFailed(error);
    },
    refused: (reason) =>
      new GatewayError('no_capacity', { internalMessage: `validation of bodies: ${reason}` }),
  });
  const queue = pool.openQueue(options.maxQueued);

  function send(worker: Worker, id: number, { chunks, rules }: BodyCheck): void {
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

  return { check: (body) => queue.run(body, body), stop: () => pool.close() };
}

function checkFailed(cause: unknown): GatewayError {
  return new GatewayError('internal_error', { internalMessage: 'the validation of a body failed', cause });
}
