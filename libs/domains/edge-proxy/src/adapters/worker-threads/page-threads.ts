import { Worker } from 'node:worker_threads';
import { GatewayError } from '@gateway/errors';
import type { PageCounts } from '@gateway/public-api';
import { createThreadPool, JobOverdue, threadProgram } from '@gateway/runtime';
import type { PageThreads } from '../../core';
import { isOutOfMemory } from './out-of-memory';

export interface PageThreadsOptions {
  /** Path of the bundled `page-worker.ts`; called when a thread starts. */
  readonly program?: () => string;
  /** Maximum; threads start on demand. */
  readonly threads?: number;
  /** Requests that wait for a thread. */
  readonly maxQueued?: number;
  /** Documents that take longer are refused. */
  readonly maxCountMs?: number;
  /** Heap limit of one thread. Documents that need more are refused. */
  readonly maxHeapMib?: number;
}

/** To a thread. */
export interface PageRequest {
  readonly id: number;
  readonly documents: readonly Uint8Array[];
}

/** From a thread. */
export interface PageReply {
  readonly id: number;
  readonly counts: PageCounts;
  /** What the thread uses, with documents that are not collected yet. */
  readonly memoryBytes: number;
}

const TOO_COMPLEX: PageCounts = {
  kind: 'unreadable',
  document: 0,
  problem: 'the PDF documents are too complex for their pages to be counted.',
};

/** A thread that uses more is terminated, since the library keeps every name and reference that it has read. */
const MAX_KEPT_BYTES = 64 * 1024 * 1024;

const IDLE_THREAD_MS = 60_000;

const defaults = {
  program: () => threadProgram('page-worker.js'),
  threads: 1,
  maxCountMs: 10_000,
  maxHeapMib: 256,
};

/** PageThreads over worker_threads. */
export function createPageThreads(given: PageThreadsOptions = {}): PageThreads {
  const options = { ...defaults, ...given };
  const pool = createThreadPool<readonly Uint8Array[], PageReply, PageCounts>({
    maxThreads: options.threads,
    idleMs: IDLE_THREAD_MS,
    keepsThread: ({ memoryBytes }) => memoryBytes <= MAX_KEPT_BYTES,
    maxJobMs: options.maxCountMs,
    start() {
      const resourceLimits = { maxOldGenerationSizeMb: options.maxHeapMib };
      return new Worker(options.program(), { name: 'page-count', resourceLimits });
    },
    send(worker, id, documents) {
      const request: PageRequest = { id, documents };
      worker.postMessage(request, transferable(documents));
    },
    resultOf: ({ counts }) => counts,
    lost(error) {
      if (isOutOfMemory(error) || error instanceof JobOverdue) return TOO_COMPLEX;
      throw new GatewayError('internal_error', {
        internalMessage: 'counting the pages of a document failed',
        cause: error,
      });
    },
    refused: (reason) =>
      new GatewayError('no_capacity', { internalMessage: `pages of documents: ${reason}` }),
  });
  const queue = pool.openQueue(options.maxQueued);

  return { count: (documents, caller) => queue.run(documents, caller), stop: () => pool.close() };
}

/** Bytes that share their ArrayBuffer are copied instead. */
function transferable(documents: readonly Uint8Array[]): ArrayBuffer[] {
  return documents
    .filter(({ buffer, byteLength }) => buffer.byteLength === byteLength)
    .map(({ buffer }) => buffer as ArrayBuffer);
}
