import { Worker } from 'node:worker_threads';
import { GatewayError } from '@gateway/errors';
import { workerSource, type CountAnswer, type CountJob } from './worker-source';

export interface WorkerPoolOptions {
  /** Threads at most; each is started when there is work for it. */
  readonly workers: number;
  /** Jobs that may wait for a thread. */
  readonly maxQueuedJobs: number;
  /** A thread holds a hundred megabytes, so one that has had nothing to do for this long is ended. */
  readonly idleThreadMs?: number;
}

interface PendingJob {
  readonly job: CountJob;
  readonly resolve: (tokens: number) => void;
  readonly reject: (error: Error) => void;
}

interface Thread {
  readonly worker: Worker;
  running: PendingJob | undefined;
  /** Ends the thread when nothing more comes. */
  retirement: NodeJS.Timeout | undefined;
}

const IDLE_THREAD_MS = 60_000;

/** Counts tokens in threads, so that long texts never stop the event loop. */
export class WorkerPool {
  private readonly threads = new Set<Thread>();
  private readonly queue: PendingJob[] = [];
  private nextId = 1;
  private closed = false;

  constructor(private readonly options: WorkerPoolOptions) {}

  /** Rejects with `no_capacity` when too many jobs wait already, or the pool is closed. */
  count(encodingPath: string, pieces: readonly string[]): Promise<number> {
    if (this.closed || this.queue.length >= this.options.maxQueuedJobs) {
      const internalMessage = this.closed ? 'token counter is closed' : 'token counting queue is full';
      return Promise.reject(new GatewayError('no_capacity', { internalMessage }));
    }
    return new Promise((resolve, reject) => {
      this.queue.push({ job: { id: this.nextId++, encodingPath, pieces }, resolve, reject });
      this.dispatch();
    });
  }

  /** Stops the threads; what is still being counted is rejected. */
  async close(): Promise<void> {
    this.closed = true;
    const error = new GatewayError('no_capacity', { internalMessage: 'token counter is closed' });
    for (const { reject } of this.queue.splice(0)) reject(error);
    const threads = [...this.threads];
    for (const thread of threads) this.drop(thread, error);
    await Promise.all(threads.map(({ worker }) => worker.terminate()));
  }

  private dispatch(): void {
    if (this.closed || this.queue.length === 0) return;
    const thread = this.idleThread();
    const next = thread && this.queue.shift();
    if (!thread || !next) return;
    thread.running = next;
    clearTimeout(thread.retirement);
    // A thread keeps the process alive only while it has work.
    thread.worker.ref();
    thread.worker.postMessage(next.job);
  }

  private idleThread(): Thread | undefined {
    for (const thread of this.threads) if (!thread.running) return thread;
    return this.threads.size < this.options.workers ? this.startThread() : undefined;
  }

  private startThread(): Thread {
    const worker = new Worker(workerSource, { eval: true, name: 'token-counter' });
    const thread: Thread = { worker, running: undefined, retirement: undefined };
    this.threads.add(thread);
    worker.on('message', (answer: CountAnswer) => this.finish(thread, answer));
    worker.on('error', (error) => this.drop(thread, error));
    worker.on('exit', (code) =>
      this.drop(thread, new Error(`token counting thread ended with code ${code}`)),
    );
    return thread;
  }

  private finish(thread: Thread, answer: CountAnswer): void {
    const { running } = thread;
    if (!running || running.job.id !== answer.id) return;
    thread.running = undefined;
    thread.worker.unref();
    const { idleThreadMs = IDLE_THREAD_MS } = this.options;
    thread.retirement = setTimeout(() => this.retire(thread), idleThreadMs);
    thread.retirement.unref();
    if ('tokens' in answer) running.resolve(answer.tokens);
    else running.reject(new Error(answer.error));
    this.dispatch();
  }

  private retire(thread: Thread): void {
    this.threads.delete(thread);
    void thread.worker.terminate();
  }

  /** Forgets a thread that ended; the next job starts another. */
  private drop(thread: Thread, error: Error): void {
    if (!this.threads.delete(thread)) return;
    clearTimeout(thread.retirement);
    thread.running?.reject(error);
    thread.running = undefined;
    this.dispatch();
  }
}
