import { Worker } from 'node:worker_threads';
import { GatewayError } from '@gateway/errors';
import { createThreadPool, threadProgram } from '@gateway/runtime';
import { UpstreamFailure } from '../../core/failure/upstream-failure';
import type { EncodeJob, EncodeThreads } from '../../core/ports';
import type { EncodeMessage, EncodeReply } from './encode-worker';

const PROGRAM = 'encode-worker.js';

export interface EncodeThreadsOptions {
  /** Path of the bundled `encode-worker.ts`; called when the first thread starts. */
  readonly program?: () => string;
  /** Maximum; threads start on demand. */
  readonly threads?: number;
  /** Requests that wait for a thread. */
  readonly maxQueued?: number;
  /** An idle thread is terminated after this long. */
  readonly idleThreadMs?: number;
}

/** A request that takes longer fails. The largest body takes about a second. */
const MAX_ENCODE_MS = 60_000;

/** EncodeThreads over worker_threads. Organizations take turns. */
export function createEncodeThreads({
  program = () => threadProgram(PROGRAM),
  threads = 2,
  maxQueued,
  idleThreadMs = 60_000,
}: EncodeThreadsOptions = {}): EncodeThreads {
  const pool = createThreadPool<EncodeJob, EncodeReply, Uint8Array>({
    maxThreads: threads,
    idleMs: idleThreadMs,
    maxJobMs: MAX_ENCODE_MS,
    start: () => new Worker(program(), { name: 'encode-request' }),
    send: (worker, id, { dialect, body, call }) =>
      worker.postMessage({ id, dialect, body, call } satisfies EncodeMessage),
    resultOf(reply) {
      if ('encoded' in reply) return reply.encoded;
      throw failureOf(reply);
    },
    lost(error) {
      throw encodingFailed(error);
    },
    refused: (reason) => new UpstreamFailure('bulkhead_full', { detail: `encoding of requests: ${reason}` }),
  });
  const queue = pool.openQueue(maxQueued);
  return {
    encode: (job) =>
      queue.run(job, job).catch((error: unknown) => {
        if (!job.signal.aborted) throw error;
        throw new UpstreamFailure('cancelled', { detail: 'cancelled before its dispatch' });
      }),
    close: () => pool.close(),
  };
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
