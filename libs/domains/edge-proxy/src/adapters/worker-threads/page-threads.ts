import { Worker } from 'node:worker_threads';
import { FairQueue } from '@gateway/base';
import { GatewayError } from '@gateway/errors';
import type { PageCounts } from '@gateway/public-api';
import { createThreadPool, JobOverdue } from '@gateway/runtime';
import type { PageThreads } from '../../core';
import { isOutOfMemory } from './out-of-memory';

export interface PageThreadsOptions {
  /** Path of the bundled `page-worker.ts`; called when a thread starts. */
  readonly program: () => string;
  /** Maximum; each request with documents has a thread of its own. */
  readonly threads?: number;
  /** Requests queued for a thread, per owner and in total. */
  readonly maxQueuedPerOwner?: number;
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
}

interface PendingCount {
  readonly documents: readonly Uint8Array[];
  readonly resolve: (counts: PageCounts) => void;
  readonly reject: (error: GatewayError) => void;
}

const TOO_COMPLEX: PageCounts = {
  kind: 'unreadable',
  document: 0,
  problem: 'the PDF documents are too complex for their pages to be counted.',
};

const defaults = {
  threads: 1,
  maxQueuedPerOwner: 16,
  maxQueued: 64,
  maxCountMs: 10_000,
  maxHeapMib: 256,
};

/**
 * PageThreads over worker_threads. The thread of a request ends with it, since the library keeps every name and
 * reference that it has read.
 */
export function createPageThreads(given: PageThreadsOptions): PageThreads {
  const options = { ...defaults, ...given };
  const queue = new FairQueue<PendingCount>({
    maxPerOwner: options.maxQueuedPerOwner,
    maxTotal: options.maxQueued,
    onDisplaced: ({ reject }) => reject(noCapacity()),
  });
  let stopped = false;

  const pool = createThreadPool<PendingCount, PageReply>({
    maxThreads: options.threads,
    idleMs: 0,
    maxJobMs: options.maxCountMs,
    start() {
      const resourceLimits = { maxOldGenerationSizeMb: options.maxHeapMib };
      return new Worker(options.program(), { name: 'page-count', resourceLimits });
    },
    next: () => queue.take(),
    send(worker, id, { documents }) {
      const request: PageRequest = { id, documents };
      worker.postMessage(request, transferable(documents));
    },
    onReply: ({ resolve }, { counts }) => resolve(counts),
    onLost({ resolve, reject }, error) {
      if (stopped) reject(noCapacity());
      else if (isOutOfMemory(error) || error instanceof JobOverdue) resolve(TOO_COMPLEX);
      else reject(countFailed(error));
    },
  });

  return {
    count: (documents, owner) =>
      new Promise((resolve, reject) => {
        if (stopped || !queue.add(owner, { documents, resolve, reject })) reject(noCapacity());
        else pool.dispatch();
      }),
    async stop() {
      stopped = true;
      for (let next = queue.take(); next; next = queue.take()) next.reject(noCapacity());
      await pool.close();
    },
  };
}

/** Bytes that share their ArrayBuffer are copied instead. */
function transferable(documents: readonly Uint8Array[]): ArrayBuffer[] {
  return documents
    .filter(({ buffer, byteLength }) => buffer.byteLength === byteLength)
    .map(({ buffer }) => buffer as ArrayBuffer);
}

function noCapacity(): GatewayError {
  return new GatewayError('no_capacity', {
    internalMessage: 'too many documents are queued, or the threads are stopped',
  });
}

function countFailed(cause: unknown): GatewayError {
  return new GatewayError('internal_error', {
    internalMessage: 'counting the pages of a document failed',
    cause,
  });
}
