import type { Worker } from 'node:worker_threads';
import { FairQueue, throwIfAborted, type JobCaller } from '@gateway/base';

export interface ThreadPoolOptions<Job, Reply extends { readonly id: number }, Result> {
  readonly maxThreads: number;
  /** Idle threads are terminated after this time, since each uses several megabytes. */
  readonly idleMs: number;
  /** Whether a thread runs further jobs after this reply. Absent: always. */
  readonly keepsThread?: (reply: Reply) => boolean;
  /** A job that takes longer is lost, and its thread terminated. Absent: unlimited. */
  readonly maxJobMs?: number;
  /** Whether a job whose thread ended runs once more. Such jobs run first. */
  readonly repeatsLost?: boolean;
  /** Starts a thread. Each message from it is a reply with the id of its job. */
  readonly start: () => Worker;
  readonly send: (worker: Worker, id: number, job: Job) => void;
  /** The result of a job, or throws its error. */
  readonly resultOf: (reply: Reply) => Result;
  /** The result of a job whose thread ended, could not be started, or took too long; or throws its error. */
  readonly lost: (error: Error) => Result;
  /** The error of a job when a queue is full or the pool is closed. */
  readonly refused: (reason: string) => Error;
}

/** A job took more than `maxJobMs`. */
export class JobOverdue extends Error {}

export interface ThreadQueue<Job, Result> {
  /**
   * Runs a job in a thread. A cancelled job rejects with the signal's reason: it leaves the queue, or finishes and its
   * result is discarded.
   */
  run(job: Job, caller?: JobCaller): Promise<Result>;
}

export interface ThreadPool<Job, Result> {
  /**
   * Opens a queue. The queues take turns, so that a long one does not delay the jobs of another.
   *
   * @param maxQueued the most jobs that wait; running ones do not count.
   */
  openQueue(maxQueued?: number): ThreadQueue<Job, Result>;
  /** Terminates the threads. Running, queued and later jobs are refused. */
  close(): Promise<void>;
}

/** Far more than a burst of requests. Their memory is limited before: an edge limits the bytes of bodies in flight. */
const MAX_QUEUED = 1_000;

interface Pending<Job, Result> {
  readonly job: Job;
  readonly resolve: (result: Result) => void;
  readonly reject: (error: unknown) => void;
  /** A thread ended while it ran this job. */
  readonly wasLost?: boolean;
}

interface Thread<Job, Result> {
  readonly worker: Worker;
  running:
    | {
        readonly id: number;
        readonly pending: Pending<Job, Result>;
        readonly deadline: NodeJS.Timeout | undefined;
      }
    | undefined;
  retirement: NodeJS.Timeout | undefined;
}

/** Threads that each run one job at a time and are started on demand. */
export function createThreadPool<Job, Reply extends { readonly id: number }, Result>(
  options: ThreadPoolOptions<Job, Reply, Result>,
): ThreadPool<Job, Result> {
  const { maxThreads, idleMs, maxJobMs, keepsThread = () => true, repeatsLost = false } = options;
  const { resultOf, refused } = options;
  const threads = new Set<Thread<Job, Result>>();
  /** In the order of their turns. */
  const queues: FairQueue<Pending<Job, Result>>[] = [];
  const interrupted: Pending<Job, Result>[] = [];
  let lastId = 0;
  let closed = false;

  function openQueue(maxQueued = MAX_QUEUED): ThreadQueue<Job, Result> {
    const full = () => refused(`the queue of ${maxQueued} is full`);
    const queue = new FairQueue<Pending<Job, Result>>({
      maxPerOwner: maxQueued,
      maxTotal: maxQueued,
      onDisplaced: ({ reject }) => reject(full()),
    });
    queues.push(queue);
    return {
      async run(job, { owner = '', signal } = {}) {
        if (signal) throwIfAborted(signal);
        if (closed) throw refused('the threads are stopped');
        let cancel = () => {};
        try {
          return await new Promise<Result>((resolve, reject) => {
            const pending = { job, resolve, reject };
            if (!queue.add(owner, pending)) return reject(full());
            cancel = () => {
              queue.remove(owner, pending);
              reject(signal?.reason as Error);
            };
            signal?.addEventListener('abort', cancel);
            dispatch();
          });
        } finally {
          signal?.removeEventListener('abort', cancel);
        }
      },
    };
  }

  function takeNext(): Pending<Job, Result> | undefined {
    const first = interrupted.shift();
    if (first) return first;
    const turn = queues.findIndex(({ size }) => size > 0);
    const [queue] = turn < 0 ? [] : queues.splice(turn, 1);
    if (!queue) return undefined;
    queues.push(queue);
    return queue.take();
  }

  function dispatch(): void {
    if (closed) return;
    const idle = [...threads].find(({ running }) => running === undefined);
    if (!idle && threads.size >= maxThreads) return;
    const pending = takeNext();
    if (pending === undefined) return;
    let thread = idle;
    try {
      thread ??= start();
    } catch (error) {
      settleLost(pending, error instanceof Error ? error : new Error(String(error)));
      dispatch();
      return;
    }
    run(thread, pending);
  }

  function start(): Thread<Job, Result> {
    const worker = options.start();
    const thread: Thread<Job, Result> = { worker, running: undefined, retirement: undefined };
    threads.add(thread);
    worker.on('message', (reply: Reply) => finish(thread, reply));
    worker.on('error', (error) => lose(thread, error));
    worker.on('exit', (code) => lose(thread, new Error(`the thread ended with code ${code}`)));
    return thread;
  }

  function run(thread: Thread<Job, Result>, pending: Pending<Job, Result>): void {
    const id = (lastId += 1);
    const overdue = () => lose(thread, new JobOverdue(`a job took more than ${maxJobMs} ms`));
    thread.running = {
      id,
      pending,
      deadline: maxJobMs === undefined ? undefined : setTimeout(overdue, maxJobMs),
    };
    clearTimeout(thread.retirement);
    // A thread keeps the process alive only while it has work.
    thread.worker.ref();
    options.send(thread.worker, id, pending.job);
  }

  function finish(thread: Thread<Job, Result>, reply: Reply): void {
    if (thread.running?.id !== reply.id) return;
    const { pending } = thread.running;
    free(thread);
    if (keepsThread(reply)) retireLater(thread);
    else void end(thread);
    settle(pending, () => resultOf(reply));
    dispatch();
  }

  function retireLater(thread: Thread<Job, Result>): void {
    thread.worker.unref();
    thread.retirement = setTimeout(() => void end(thread), idleMs);
    thread.retirement.unref();
  }

  function lose(thread: Thread<Job, Result>, error: Error): void {
    if (!threads.has(thread)) return;
    const { running } = thread;
    free(thread);
    void end(thread);
    if (running) settleLost(running.pending, error);
    dispatch();
  }

  /** A job that ended two threads would probably end any other. */
  function settleLost(pending: Pending<Job, Result>, error: Error): void {
    if (repeatsLost && !pending.wasLost) interrupted.push({ ...pending, wasLost: true });
    else settle(pending, () => options.lost(error));
  }

  function settle({ resolve, reject }: Pending<Job, Result>, result: () => Result): void {
    try {
      resolve(result());
    } catch (error) {
      reject(error);
    }
  }

  function free(thread: Thread<Job, Result>): void {
    clearTimeout(thread.running?.deadline);
    thread.running = undefined;
  }

  function end(thread: Thread<Job, Result>): Promise<number> {
    threads.delete(thread);
    clearTimeout(thread.retirement);
    return thread.worker.terminate();
  }

  async function close(): Promise<void> {
    closed = true;
    const left = [...threads].flatMap(({ running }) => running?.pending ?? []);
    for (let next = takeNext(); next; next = takeNext()) left.push(next);
    for (const { reject } of left) reject(refused('the threads are stopped'));
    await Promise.all(
      [...threads].map((thread) => {
        free(thread);
        return end(thread);
      }),
    );
  }

  return { openQueue, close };
}
