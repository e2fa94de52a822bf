import { Worker } from 'node:worker_threads';
import { GatewayError } from '@gateway/errors';
import type { Vocabulary } from './vocabulary';
import type { CountJob, CountResult } from './count-worker';

export interface WorkerPoolOptions {
  /** Threads at most; each is started when there is work for it. */
  readonly workers: number;
  /** A thread holds some megabytes, so one that has had nothing to do for this long is ended. */
  readonly idleThreadMs?: number;
  /** Path of the bundled `count-worker.ts`, resolved when the first thread starts. */
  readonly program: () => string;
}

/** A queue of its own before the threads that all share. */
export interface Lane {
  /** Of each text. Rejects with `no_capacity` when too many jobs of this lane wait already, or the pool is closed. */
  count(vocabulary: Vocabulary, texts: readonly string[]): Promise<readonly number[]>;
}

interface PendingJob {
  readonly job: CountJob;
  readonly resolve: (tokens: readonly number[]) => void;
  readonly reject: (error: Error) => void;
  /** A thread ended over it: the next one to do so is the last. */
  hasEndedThread: boolean;
}

interface Thread {
  readonly worker: Worker;
  running: PendingJob | undefined;
  /** Ends the thread when nothing more comes. */
  retirement: NodeJS.Timeout | undefined;
}

const IDLE_THREAD_MS = 60_000;

/**
 * Counts tokens in threads, so that long texts never stop the event loop. Lanes
 * take turns: however much waits in one, the next job of another is next but one.
 */
export class WorkerPool {
  private readonly threads = new Set<Thread>();
  /** In the order of their turns. */
  private readonly lanes: PendingJob[][] = [];
  /** What a thread ended over; goes before everything that waits. */
  private readonly interrupted: PendingJob[] = [];
  private nextId = 1;
  private closed = false;

  constructor(private readonly options: WorkerPoolOptions) {}

  /** @param maxWaitingJobs that may wait for a thread in this lane; what is counted already is not among them. */
  openLane(maxWaitingJobs: number): Lane {
    const waiting: PendingJob[] = [];
    this.lanes.push(waiting);
    return {
      count: (vocabulary, texts) => {
        if (this.closed || waiting.length >= maxWaitingJobs) {
          return Promise.reject(
            noCapacity(this.closed ? 'is closed' : `has ${maxWaitingJobs} texts waiting`),
          );
        }
        return new Promise((resolve, reject) => {
          const job = { id: this.nextId++, vocabulary, texts };
          waiting.push({ job, resolve, reject, hasEndedThread: false });
          this.dispatch();
        });
      },
    };
  }

  /** Stops the threads; what is still being counted is rejected. */
  async close(): Promise<void> {
    this.closed = true;
    const error = noCapacity('is closed');
    for (const waiting of [this.interrupted, ...this.lanes]) {
      for (const { reject } of waiting.splice(0)) reject(error);
    }
    const threads = [...this.threads];
    for (const thread of threads) this.drop(thread, error);
    await Promise.all(threads.map(({ worker }) => worker.terminate()));
  }

  private dispatch(): void {
    if (this.closed || !this.hasWaiting()) return;
    const thread = this.idleThread();
    const next = thread && this.takeNext();
    if (!thread || !next) return;
    thread.running = next;
    clearTimeout(thread.retirement);
    // A thread keeps the process alive only while it has work.
    thread.worker.ref();
    thread.worker.postMessage(next.job);
  }

  private hasWaiting(): boolean {
    return this.interrupted.length > 0 || this.lanes.some((waiting) => waiting.length > 0);
  }

  private takeNext(): PendingJob | undefined {
    const interrupted = this.interrupted.shift();
    if (interrupted) return interrupted;
    const turn = this.lanes.findIndex((waiting) => waiting.length > 0);
    const [lane] = turn < 0 ? [] : this.lanes.splice(turn, 1);
    if (!lane) return undefined;
    this.lanes.push(lane);
    return lane.shift();
  }

  private idleThread(): Thread | undefined {
    for (const thread of this.threads) if (!thread.running) return thread;
    return this.threads.size < this.options.workers ? this.startThread() : undefined;
  }

  private startThread(): Thread {
    const worker = new Worker(this.options.program(), { name: 'tokenizer' });
    const thread: Thread = { worker, running: undefined, retirement: undefined };
    this.threads.add(thread);
    worker.on('message', (result: CountResult) => this.finish(thread, result));
    worker.on('error', (error) => this.drop(thread, error));
    worker.on('exit', (code) =>
      this.drop(thread, new Error(`token counting thread ended with code ${code}`)),
    );
    return thread;
  }

  private finish(thread: Thread, result: CountResult): void {
    const { running } = thread;
    if (!running || running.job.id !== result.id) return;
    thread.running = undefined;
    thread.worker.unref();
    const { idleThreadMs = IDLE_THREAD_MS } = this.options;
    thread.retirement = setTimeout(() => this.retire(thread), idleThreadMs);
    thread.retirement.unref();
    if ('tokens' in result) running.resolve(result.tokens);
    else running.reject(new Error(result.error));
    this.dispatch();
  }

  private retire(thread: Thread): void {
    this.threads.delete(thread);
    void thread.worker.terminate();
  }

  /**
   * Forgets a thread that ended. Another one counts what it was counting, once:
   * a text that ends two threads would end all that follow.
   */
  private drop(thread: Thread, error: Error): void {
    if (!this.threads.delete(thread)) return;
    clearTimeout(thread.retirement);
    const { running } = thread;
    thread.running = undefined;
    if (running && (running.hasEndedThread || this.closed)) running.reject(error);
    else if (running) this.interrupted.push({ ...running, hasEndedThread: true });
    this.dispatch();
  }
}

function noCapacity(state: string): GatewayError {
  return new GatewayError('no_capacity', { internalMessage: `the tokenizer ${state}` });
}
