import { Worker } from 'node:worker_threads';
import { GatewayError } from '@gateway/errors';
import { createThreadPool, type ThreadPool } from '@gateway/runtime';
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
  readonly vocabulary: Vocabulary;
  readonly texts: readonly string[];
  readonly resolve: (tokens: readonly number[]) => void;
  readonly reject: (error: Error) => void;
  /** A thread was lost with it; the next one is the last. */
  readonly hasLostThread?: boolean;
}

const IDLE_THREAD_MS = 60_000;

/**
 * Counts tokens in threads, so that long texts never stop the event loop. Lanes
 * take turns: however much waits in one, the next job of another is next but one.
 */
export class WorkerPool {
  /** In the order of their turns. */
  private readonly lanes: PendingJob[][] = [];
  /** Jobs whose thread was lost. They run before all that wait. */
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
          waiting.push({ vocabulary, texts, resolve, reject });
          this.pool.dispatch();
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
    await this.pool.close();
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

  /** A text that ends two threads would end all that follow. */
  private repeatOnce(job: PendingJob, error: Error): void {
    if (this.closed) job.reject(noCapacity('is closed'));
    else if (job.hasLostThread) job.reject(error);
    else this.interrupted.push({ ...job, hasLostThread: true });
  }
}

function noCapacity(state: string): GatewayError {
  return new GatewayError('no_capacity', { internalMessage: `the tokenizer ${state}` });
}
