import { existsSync } from 'node:fs';
import path from 'node:path';
import { Worker } from 'node:worker_threads';
import { FairQueue } from '@gateway/base';
import { GatewayError } from '@gateway/errors';
import { createThreadPool } from '@gateway/runtime';
import { UpstreamFailure } from '../../core/failure/upstream-failure';
import type { EncodeJob, EncodeThreads } from '../../core/ports';
import type { EncodeMessage, EncodeReply } from './encode-worker';

const PROGRAM = 'encode-worker.js';
const ROOT = '../../../../../..';

export interface EncodeThreadsOptions {
  /** Path of the bundled `encode-worker.ts`; called when the first thread starts. */
  readonly program?: () => string;
  /** Maximum; threads start on demand. */
  readonly threads?: number;
  /** Requests queued for a thread, per organization and in total. */
  readonly maxQueuedPerOwner?: number;
  readonly maxQueued?: number;
  /** An idle thread is terminated after this long. */
  readonly idleThreadMs?: number;
}

/** A request that takes longer fails. The largest body takes about a second. */
const MAX_ENCODE_MS = 60_000;

interface PendingJob {
  readonly job: EncodeJob;
  readonly resolve: (encoded: Uint8Array) => void;
  readonly reject: (error: unknown) => void;
}

/** EncodeThreads over worker_threads. Organizations take turns. */
export function createEncodeThreads({
  program = builtProgram,
  threads = 2,
  maxQueuedPerOwner = 16,
  maxQueued = 256,
  idleThreadMs = 60_000,
}: EncodeThreadsOptions = {}): EncodeThreads {
  const queue = new FairQueue<PendingJob>({
    maxPerOwner: maxQueuedPerOwner,
    maxTotal: maxQueued,
    onDisplaced: ({ reject }) => reject(noCapacity()),
  });
  const pool = createThreadPool<PendingJob, EncodeReply>({
    maxThreads: threads,
    idleMs: idleThreadMs,
    maxJobMs: MAX_ENCODE_MS,
    start: () => new Worker(program(), { name: 'encode-request' }),
    next: () => queue.take(),
    send: (worker, id, { job: { dialect, body, call } }) =>
      worker.postMessage({ id, dialect, body, call } satisfies EncodeMessage),
    onReply: ({ resolve, reject }, reply) => {
      if ('encoded' in reply) resolve(reply.encoded);
      else reject(failureOf(reply));
    },
    onLost: ({ reject }, error) => reject(encodingFailed(error)),
  });
  return {
    encode(job) {
      const { owner, signal } = job;
      return new Promise((resolve, reject) => {
        const settle =
          <Value>(settled: (value: Value) => void) =>
          (value: Value) => {
            signal.removeEventListener('abort', onAbort);
            settled(value);
          };
        const pending: PendingJob = { job, resolve: settle(resolve), reject: settle(reject) };
        // A request that is being encoded is finished, and its result discarded.
        const onAbort = () => {
          queue.remove(owner, pending);
          pending.reject(new UpstreamFailure('cancelled', { detail: 'cancelled before its dispatch' }));
        };
        if (signal.aborted) return onAbort();
        if (!queue.add(owner, pending)) return reject(noCapacity());
        signal.addEventListener('abort', onAbort, { once: true });
        pool.dispatch();
      });
    },
    async close() {
      for (let next = queue.take(); next; next = queue.take()) next.reject(noCapacity());
      await pool.close();
    },
  };
}

/** The build places it next to the app's program; tests that run from source use that of the built gateway. */
function builtProgram(): string {
  const sibling = path.join(__dirname, PROGRAM);
  return existsSync(sibling) ? sibling : path.resolve(__dirname, ROOT, 'dist/gateway', PROGRAM);
}

function failureOf(reply: Exclude<EncodeReply, { encoded: Uint8Array }>): Error {
  if ('error' in reply) return encodingFailed(reply.error);
  const { kind, detail, publicMessage, param } = reply;
  return new UpstreamFailure(kind, {
    detail,
    publicMessage,
    param,
  });
}

function encodingFailed(cause: unknown): GatewayError {
  return new GatewayError('internal_error', { internalMessage: 'a request was not encoded', cause });
}

function noCapacity(): UpstreamFailure {
  return new UpstreamFailure('bulkhead_full', { detail: 'too many large requests are being encoded' });
}
