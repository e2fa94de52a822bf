import { Worker } from 'node:worker_threads';
import { GatewayError } from '@gateway/errors';
import { createThreadPool, type ThreadPool } from '@gateway/runtime';
import type { CountJob, CountResult } from './count-worker';

export interface CountThreadsOptions {
  /** Maximum number of threads; each is started on demand. */
  readonly workers: number;
  /** A thread that is idle for this long is ended, since it holds several megabytes. */
  readonly idleThreadMs?: number;
  /** Path of the bundled `count-worker.ts`, resolved when the first thread starts. */
  readonly program: () => string;
}

const IDLE_THREAD_MS = 60_000;

/** Counts the tokens of each text of a job in threads, so that long texts never block the event loop. */
export function createCountThreads({
  workers,
  program,
  idleThreadMs = IDLE_THREAD_MS,
}: CountThreadsOptions): ThreadPool<Omit<CountJob, 'id'>, readonly number[]> {
  return createThreadPool<Omit<CountJob, 'id'>, CountResult, readonly number[]>({
    maxThreads: workers,
    idleMs: idleThreadMs,
    repeatsLost: true,
    start: () => new Worker(program(), { name: 'tokenizer' }),
    send: (worker, id, job) => worker.postMessage({ id, ...job } satisfies CountJob),
    resultOf: (result) => {
      if ('error' in result) throw new Error(result.error);
      return result.tokens;
    },
    lost: (error) => {
      throw error;
    },
    refused: (reason) => new GatewayError('no_capacity', { internalMessage: `the tokenizer: ${reason}` }),
  });
}
