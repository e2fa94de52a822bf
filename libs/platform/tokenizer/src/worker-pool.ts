import { Worker } from 'node:worker_threads';
import { FairQueue } from '@gateway/base';
import { GatewayError } from '@gateway/errors';
import { createThreadPool, type ThreadPool } from '@gateway/runtime';
import type { Vocabulary } from './vocabulary';
import type { CountJob, CountResult } from './count-worker';

export interface WorkerPoolOptions {
  /** Maximum number of threads; each is started on demand. */
  readonly workers: number;
  /** A thread that is idle for this long is ended, since it holds several megabytes. */
  readonly idleThreadMs?: number;
  /** Path of the bundled `count-worker.ts`, resolved when the first thread starts. */
  readonly program: () => string;
}

/** A queue of jobs for the shared threads. */
export interface CountQueue {
  /**
   * Counts each text. Rejects with `no_capacity` when the queue is full or the pool is closed.
   *
   * @param owner - owners take turns, and share a full queue.
   */
  count(vocabulary: Vocabulary, texts: readonly string[], owner?: string): Promise<readonly number[]>;
}

interface PendingJob {
  readonly vocabulary: Vocabulary;
  readonly texts: readonly string[];
  readonly resolve: (tokens: readonly number[]) => void;
  readonly reject: (error: Error) => void;
  /** A thread ended while it ran this job; the job is retried only once. */
  readonly hasLostThread?: boolean;
}

const IDLE_THREAD_MS = 60_000;

/**
 * Counts tokens in threads, so that long texts never block the event loop. The
 * queues alternate, so a long queue does not delay the jobs of another.
 */
export class WorkerPool {
  /** In round-robin order. */
  private readonly queues: FairQueue<PendingJob>[] = [];
  /** Jobs whose thread ended. They run first. */
  private readonly interrupted: PendingJob[] = [];
  private readonly pool: ThreadPool;
  private closed = false;

  constructor({ workers, program, idleThreadMs = IDLE_THREAD_MS }: WorkerPoolOptions) {
    this.pool = createThreadPool<PendingJob, CountResult>({
      maxThreads: workers,
      idleMs: idleThreadMs,
      start: () => new Worker(program(), { name: 'tokenizer' }),
      next: () => this.takeNext(),
      send: (worker, id, { vocabulary, texts }) => {
        worker.postMessage({ id, vocabulary, texts } satisfies CountJob);
      },
      onReply: ({ resolve, reject }, result) => {
        if ('tokens' in result) resolve(result.tokens);
        else reject(new Error(result.error));
      },
      onLost: (job, error) => this.repeatOnce(job, error),
    });
  }

  /** @param maxWaitingJobs maximum queued jobs, not counting running ones. */
  openQueue(maxWaitingJobs: number): CountQueue {
    const full = () => noCapacity(`has ${maxWaitingJobs} queued jobs`);
    const waiting = new FairQueue<PendingJob>({
      maxPerOwner: maxWaitingJobs,
      maxTotal: maxWaitingJobs,
      onDisplaced: ({ reject }) => reject(full()),
    });
    this.queues.push(waiting);
    return {
      count: (vocabulary, texts, owner = '') => {
        if (this.closed) return Promise.reject(noCapacity('is closed'));
        return new Promise((resolve, reject) => {
          if (!waiting.add(owner, { vocabulary, texts, resolve, reject })) return reject(full());
          this.pool.dispatch();
        });
      },
    };
  }

  /** Ends the threads, and rejects running and queued jobs. */
  async close(): Promise<void> {
    this.closed = true;
    const error = noCapacity('is closed');
    for (const { reject } of this.interrupted.splice(0)) reject(error);
    for (const queue of this.queues) {
      for (let job = queue.take(); job; job = queue.take()) job.reject(error);
    }
    await this.pool.close();
  }

  private takeNext(): PendingJob | undefined {
    const interrupted = this.interrupted.shift();
    if (interrupted) return interrupted;
    const turn = this.queues.findIndex(({ size }) => size > 0);
    const [queue] = turn < 0 ? [] : this.queues.splice(turn, 1);
    if (!queue) return undefined;
    this.queues.push(queue);
    return queue.take();
  }

  /** A text that ended two threads would probably end any other. */
  private repeatOnce(job: PendingJob, error: Error): void {
    if (this.closed) job.reject(noCapacity('is closed'));
    else if (job.hasLostThread) job.reject(error);
    else this.interrupted.push({ ...job, hasLostThread: true });
  }
}

function noCapacity(state: string): GatewayError {
  return new GatewayError('no_capacity', { internalMessage: `the tokenizer ${state}` });
}
