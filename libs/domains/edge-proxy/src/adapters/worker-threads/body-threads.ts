import { Worker } from 'node:worker_threads';
import { GatewayError, type Refusal } from '@gateway/errors';
import { createThreadPool } from '@gateway/runtime';
import { bodyTakesTooMuchMemory, type CheckedChatBody, type ChatBodyRules } from '@gateway/public-api';
import { type BodyCheck, type BodyThreads, FairQueue } from '../../core';
import type { FromThread, ThreadData, ToThread } from './messages';

export interface BodyThreadsOptions {
  /** Path of the bundled `body-worker.ts`; asked for when the first thread starts. */
  readonly program: () => string;
  /** UTF-16 code units of text beyond which the size is counted, see TokenCounter. */
  readonly maxTextLength: number;
  /** Of one body, after decompression; the memory of a thread follows from it. */
  readonly maxBodyBytes: number;
  /** At most; each is started when there is work for it. */
  readonly threads?: number;
  /** Bodies that may wait for a thread, of one owner and of all. */
  readonly maxWaitingPerOwner?: number;
  readonly maxWaiting?: number;
  /** A thread that has had nothing to do for this long is ended. */
  readonly idleThreadMs?: number;
  /** A body that takes longer is given up: the largest takes a second. */
  readonly maxCheckMs?: number;
  /**
   * JavaScript memory of one thread. Far above what a body of the largest size
   * needs: V8 ends the whole process when one allocation goes well beyond it.
   */
  readonly maxHeapMib?: number;
}

const MIB = 1024 * 1024;
/** MiB of heap for each MiB of body; the worst bodies take seven. */
const MAX_HEAP_PER_BODY = 32;
const defaults = {
  threads: 2,
  maxWaitingPerOwner: 16,
  maxWaiting: 256,
  idleThreadMs: 60_000,
  maxCheckMs: 60_000,
};

type Answer = CheckedChatBody | Refusal;

/** The port for chat completions. */
export type ChatBodyThreads = BodyThreads<ChatBodyRules, Answer>;

interface Waiting {
  readonly body: BodyCheck<ChatBodyRules>;
  readonly resolve: (answer: Answer) => void;
  readonly reject: (error: unknown) => void;
}

/** BodyThreads over worker_threads. */
export function createBodyThreads(given: BodyThreadsOptions): ChatBodyThreads {
  const options = {
    ...defaults,
    maxHeapMib: 256 + MAX_HEAP_PER_BODY * Math.ceil(given.maxBodyBytes / MIB),
    ...given,
  };
  const queue = new FairQueue<Waiting>({
    maxPerOwner: options.maxWaitingPerOwner,
    maxInAll: options.maxWaiting,
  });
  const { maxTextLength, maxHeapMib } = options;
  /** The models that each thread has; their identity is their version. */
  const modelsOf = new WeakMap<Worker, ChatBodyRules['models']>();
  let stopped = false;

  const pool = createThreadPool<Waiting, FromThread>({
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
      else reject(brokenCheck(reply.error));
    },
    onLost({ resolve, reject }, error) {
      if (stopped) reject(noCapacity('are stopped'));
      else if (isOutOfMemory(error)) resolve(bodyTakesTooMuchMemory());
      else reject(brokenCheck(error));
    },
  });

  function check(body: BodyCheck<ChatBodyRules>): Promise<Answer> {
    const { owner, signal } = body;
    if (signal.aborted) return Promise.reject(signal.reason as Error);
    return new Promise((resolve, reject) => {
      const waiting: Waiting = {
        body,
        resolve: (answer) => {
          signal.removeEventListener('abort', onAbort);
          resolve(answer);
        },
        reject: (error) => {
          signal.removeEventListener('abort', onAbort);
          reject(error as Error);
        },
      };
      // One that runs already runs to its end, which is soon, and nobody hears of it.
      const onAbort = (): void => {
        queue.remove(owner, waiting);
        waiting.reject(signal.reason);
      };
      if (stopped || !queue.add(owner, waiting)) {
        reject(noCapacity(stopped ? 'are stopped' : 'have too many bodies waiting'));
        return;
      }
      signal.addEventListener('abort', onAbort);
      pool.dispatch();
    });
  }

  function send(worker: Worker, id: number, { body: { pieces, rules } }: Waiting): void {
    const { policy, models, wantsSha256 } = rules;
    if (models !== modelsOf.get(worker)) {
      modelsOf.set(worker, models);
      post(worker, { kind: 'models', models: models && [...models.values()] }, []);
    }
    // Chunks that share their memory with others are copied.
    const moved = pieces.filter(({ buffer, byteLength }) => buffer.byteLength === byteLength);
    post(worker, { kind: 'check', id, pieces, policy, wantsSha256 }, moved);
  }

  function post(worker: Worker, message: ToThread, moved: readonly Uint8Array[]): void {
    worker.postMessage(
      message,
      moved.map(({ buffer }) => buffer as ArrayBuffer),
    );
  }

  async function stop(): Promise<void> {
    stopped = true;
    for (let next = queue.take(); next; next = queue.take()) next.reject(noCapacity('are stopped'));
    await pool.close();
  }

  return { check, stop };
}

function isOutOfMemory(error: Error): boolean {
  return 'code' in error && error.code === 'ERR_WORKER_OUT_OF_MEMORY';
}

function brokenCheck(cause: unknown): GatewayError {
  return new GatewayError('internal_error', { internalMessage: 'checking a body failed', cause });
}

function noCapacity(state: string): GatewayError {
  return new GatewayError('no_capacity', { internalMessage: `the threads for bodies ${state}` });
}
