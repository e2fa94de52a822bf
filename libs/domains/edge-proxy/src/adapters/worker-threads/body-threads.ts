import { Worker } from 'node:worker_threads';
import { GatewayError, type Refusal } from '@gateway/errors';
import { bodyTakesTooMuchMemory, type CheckedChatBody, type ChatBodyRules } from '@gateway/public-api';
import { type BodyCheck, type BodyThreads, FairQueue } from '../../core';
import { type CheckOrder, type FromThread, type ThreadData, type ToThread } from './messages';

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

interface Thread {
  readonly worker: Worker;
  /** What it was told last; its identity is its version. */
  models: ChatBodyRules['models'];
  running: { readonly id: number; readonly check: Waiting; readonly deadline: NodeJS.Timeout } | undefined;
  /** Ends the thread when nothing more comes. */
  retirement: NodeJS.Timeout | undefined;
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
  const threads = new Set<Thread>();
  let lastId = 0;
  let stopped = false;

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
      dispatch();
    });
  }

  function dispatch(): void {
    if (stopped || queue.size === 0) return;
    const thread = idleThread();
    const next = thread && queue.take();
    if (thread && next) run(thread, next);
  }

  function idleThread(): Thread | undefined {
    for (const thread of threads) if (!thread.running) return thread;
    return threads.size < options.threads ? startThread() : undefined;
  }

  function startThread(): Thread {
    const { maxTextLength, maxHeapMib } = options;
    const workerData: ThreadData = { maxTextLength };
    const worker = new Worker(options.program(), {
      name: 'body-check',
      workerData,
      resourceLimits: { maxOldGenerationSizeMb: maxHeapMib },
    });
    const thread: Thread = { worker, models: undefined, running: undefined, retirement: undefined };
    threads.add(thread);
    worker.on('message', (answer: FromThread) => finish(thread, answer));
    worker.on('error', (error) => drop(thread, error));
    worker.on('exit', (code) => drop(thread, new Error(`the thread ended with code ${code}`)));
    return thread;
  }

  function run(thread: Thread, next: Waiting): void {
    const { pieces, rules } = next.body;
    const id = (lastId += 1);
    const overdue = new Error(`a body took more than ${options.maxCheckMs} ms to check`);
    const deadline = setTimeout(() => drop(thread, overdue), options.maxCheckMs);
    thread.running = { id, check: next, deadline };
    clearTimeout(thread.retirement);
    // A thread keeps the process alive only while it has work.
    thread.worker.ref();
    const { policy, models, wantsSha256 } = rules;
    if (thread.models !== models) {
      thread.models = models;
      tell(thread, { kind: 'models', models: models && [...models.values()] }, []);
    }
    const order: CheckOrder = { kind: 'check', id, pieces, policy, wantsSha256 };
    // Pieces that lie in memory with others are copied.
    tell(
      thread,
      order,
      pieces.filter(({ buffer, byteLength }) => buffer.byteLength === byteLength),
    );
  }

  function tell({ worker }: Thread, message: ToThread, moved: readonly Uint8Array[]): void {
    worker.postMessage(
      message,
      moved.map(({ buffer }) => buffer as ArrayBuffer),
    );
  }

  function finish(thread: Thread, answer: FromThread): void {
    const { running } = thread;
    if (running?.id !== answer.id) return;
    free(thread);
    thread.worker.unref();
    thread.retirement = setTimeout(() => end(thread), options.idleThreadMs);
    thread.retirement.unref();
    if ('result' in answer) running.check.resolve(answer.result);
    else running.check.reject(brokenCheck(answer.error));
    dispatch();
  }

  /** Forgets a thread that ended or must end; the body that it was checking goes with it. */
  function drop(thread: Thread, error: Error): void {
    if (!threads.has(thread)) return;
    const { running } = thread;
    free(thread);
    void end(thread);
    if (running && isOutOfMemory(error)) running.check.resolve(bodyTakesTooMuchMemory());
    else running?.check.reject(brokenCheck(error));
    dispatch();
  }

  function free(thread: Thread): void {
    clearTimeout(thread.running?.deadline);
    thread.running = undefined;
  }

  function end(thread: Thread): Promise<number> {
    threads.delete(thread);
    clearTimeout(thread.retirement);
    return thread.worker.terminate();
  }

  async function stop(): Promise<void> {
    stopped = true;
    for (let next = queue.take(); next; next = queue.take()) next.reject(noCapacity('are stopped'));
    await Promise.all(
      [...threads].map((thread) => {
        thread.running?.check.reject(noCapacity('are stopped'));
        free(thread);
        return end(thread);
      }),
    );
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
