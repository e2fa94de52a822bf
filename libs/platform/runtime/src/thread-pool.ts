import type { Worker } from 'node:worker_threads';

export interface ThreadPoolOptions<Job, Reply extends { readonly id: number }> {
  readonly maxThreads: number;
  /**
   * Idle threads are terminated after this time, since each uses several megabytes. With 0, each job has a thread of
   * its own.
   */
  readonly idleMs: number;
  /** A job that takes longer is lost, and its thread terminated. Absent: unlimited. */
  readonly maxJobMs?: number;
  /** Starts a thread. Each message from it is a reply with the id of its job. */
  readonly start: () => Worker;
  /** Removes the next job from the owner's queue. */
  readonly next: () => Job | undefined;
  readonly send: (worker: Worker, id: number, job: Job) => void;
  readonly onReply: (job: Job, reply: Reply) => void;
  /** The thread ended, could not be started, or took too long, or the pool was closed. */
  readonly onLost: (job: Job, error: Error) => void;
}

/** A job took more than `maxJobMs`. */
export class JobOverdue extends Error {}

export interface ThreadPool {
  /** Call it after a job was queued. */
  dispatch(): void;
  /** Terminates the threads; running jobs are lost. */
  close(): Promise<void>;
}

interface Thread<Job> {
  readonly worker: Worker;
  running:
    { readonly id: number; readonly job: Job; readonly deadline: NodeJS.Timeout | undefined } | undefined;
  retirement: NodeJS.Timeout | undefined;
}

/** Threads that each run one job at a time and are started on demand. The owner provides the queue. */
export function createThreadPool<Job, Reply extends { readonly id: number }>(
  options: ThreadPoolOptions<Job, Reply>,
): ThreadPool {
  const { maxThreads, idleMs, maxJobMs, onLost } = options;
  const threads = new Set<Thread<Job>>();
  let lastId = 0;
  let closed = false;

  function dispatch(): void {
    if (closed) return;
    const idle = [...threads].find(({ running }) => running === undefined);
    if (!idle && threads.size >= maxThreads) return;
    const job = options.next();
    if (job === undefined) return;
    let thread = idle;
    try {
      thread ??= start();
    } catch (error) {
      onLost(job, error instanceof Error ? error : new Error(String(error)));
      dispatch();
      return;
    }
    run(thread, job);
  }

  function start(): Thread<Job> {
    const worker = options.start();
    const thread: Thread<Job> = { worker, running: undefined, retirement: undefined };
    threads.add(thread);
    worker.on('message', (reply: Reply) => finish(thread, reply));
    worker.on('error', (error) => lose(thread, error));
    worker.on('exit', (code) => lose(thread, new Error(`the thread ended with code ${code}`)));
    return thread;
  }

  function run(thread: Thread<Job>, job: Job): void {
    const id = (lastId += 1);
    const overdue = () => lose(thread, new JobOverdue(`a job took more than ${maxJobMs} ms`));
    thread.running = {
      id,
      job,
      deadline: maxJobMs === undefined ? undefined : setTimeout(overdue, maxJobMs),
    };
    clearTimeout(thread.retirement);
    // A thread keeps the process alive only while it has work.
    thread.worker.ref();
    options.send(thread.worker, id, job);
  }

  function finish(thread: Thread<Job>, reply: Reply): void {
    if (thread.running?.id !== reply.id) return;
    const { job } = thread.running;
    free(thread);
    if (idleMs === 0) void end(thread);
    else retireLater(thread);
    options.onReply(job, reply);
    dispatch();
  }

  function retireLater(thread: Thread<Job>): void {
    thread.worker.unref();
    thread.retirement = setTimeout(() => void end(thread), idleMs);
    thread.retirement.unref();
  }

  function lose(thread: Thread<Job>, error: Error): void {
    if (!threads.has(thread)) return;
    const { running } = thread;
    free(thread);
    void end(thread);
    if (running) onLost(running.job, error);
    dispatch();
  }

  function free(thread: Thread<Job>): void {
    clearTimeout(thread.running?.deadline);
    thread.running = undefined;
  }

  function end(thread: Thread<Job>): Promise<number> {
    threads.delete(thread);
    clearTimeout(thread.retirement);
    return thread.worker.terminate();
  }

  return {
    dispatch,
    async close() {
      closed = true;
      await Promise.all(
        [...threads].map((thread) => {
          const { running } = thread;
          free(thread);
          const ended = end(thread);
          if (running) onLost(running.job, new Error('the pool is closed'));
          return ended;
        }),
      );
    },
  };
}
