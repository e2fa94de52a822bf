import { runBatch as runTracedBatch, tracing, type BatchMember } from '@gateway/telemetry';

/**
 * Batches by load: the items that arrive while a batch is in flight form the
 * next one. An item alone leaves at the end of the turn of the event loop; with
 * more than one queued, the batch is flushed after a turn that adds none. A batch
 * costs more than an item, and a busy loop would get no result sooner from
 * smaller batches.
 */
export interface AdaptiveBatcherOptions<Item, Result> {
  /** Returns a result per item, in order. A rejection rejects every item of that batch. */
  readonly run: (items: readonly Item[]) => Promise<readonly Result[]>;
  /** At least one, as the other limits. */
  readonly maxBatchSize: number;
  /** Batches in flight at once. */
  readonly maxConcurrentBatches: number;
  /**
   * The longest that a batch lingers, in milliseconds. Default 2; at 0 it leaves
   * at the end of the turn.
   */
  readonly maxGatherMs?: number;
  /** Queued items beyond this are refused with `overflow()`, so that a slow backend cannot eat memory. */
  readonly maxQueuedItems: number;
  readonly overflow: () => Error;
}

export interface AdaptiveBatcher<Item, Result> {
  submit(item: Item): Promise<Result>;
  /** Resolves when nothing is queued or in flight. */
  idle(): Promise<void>;
}

const DEFAULT_GATHER_MS = 2;

interface Waiting<Item, Result> {
  readonly item: Item;
  readonly resolve: (result: Result) => void;
  readonly reject: (error: unknown) => void;
  /** The span of the caller, if there is one. */
  readonly member: BatchMember | undefined;
}

export function createAdaptiveBatcher<Item, Result>(
  options: AdaptiveBatcherOptions<Item, Result>,
): AdaptiveBatcher<Item, Result> {
  const { maxBatchSize, maxConcurrentBatches, maxQueuedItems, maxGatherMs = DEFAULT_GATHER_MS } = options;
  if (!(Math.min(maxBatchSize, maxConcurrentBatches, maxQueuedItems) >= 1)) {
    throw new RangeError('the limits of a batcher are at least one');
  }
  const queue: Waiting<Item, Result>[] = [];
  let running = 0;
  let scheduled = false;
  let sizeOfLast = 0;
  let idleWaiters: (() => void)[] = [];

  function submit(item: Item): Promise<Result> {
    if (queue.length >= maxQueuedItems) return Promise.reject(options.overflow());
    return new Promise((resolve, reject) => {
      queue.push({ item, resolve, reject, member: memberOfTrace() });
      schedule();
    });
  }

  // After the callbacks that are due in this turn, so that items from several
  // sockets share a batch even when none is in flight.
  function schedule(): void {
    if (scheduled || running >= maxConcurrentBatches) return;
    scheduled = true;
    const isAlone = queue.length === 1 && sizeOfLast <= 1;
    gather(isAlone ? 1 : 0, maxGatherMs === 0 ? 0 : performance.now() + maxGatherMs);
  }

  /** @param seen length of the queue at the end of the previous turn. */
  function gather(seen: number, untilMs: number): void {
    setImmediate(() => {
      if (queue.length > seen && queue.length < maxBatchSize && performance.now() < untilMs) {
        gather(queue.length, untilMs);
        return;
      }
      scheduled = false;
      while (queue.length > 0 && running < maxConcurrentBatches) {
        void runBatch(queue.splice(0, maxBatchSize));
      }
    });
  }

  async function runBatch(batch: Waiting<Item, Result>[]): Promise<void> {
    running += 1;
    sizeOfLast = batch.length;
    try {
      const items = batch.map((waiting) => waiting.item);
      const tracer = tracing();
      const results = await (tracer === undefined
        ? options.run(items)
        : runTracedBatch(
            tracer,
            batch.map(({ member }) => member),
            () => options.run(items),
          ));
      if (results.length !== batch.length) {
        throw new Error(`a batch of ${batch.length} got ${results.length} results`);
      }
      batch.forEach((waiting, index) => waiting.resolve(results[index] as Result));
    } catch (error) {
      for (const waiting of batch) waiting.reject(error);
    } finally {
      running -= 1;
      if (queue.length > 0) schedule();
      else if (running === 0) releaseIdleWaiters();
    }
  }

  function releaseIdleWaiters(): void {
    const waiters = idleWaiters;
    idleWaiters = [];
    for (const release of waiters) release();
  }

  function idle(): Promise<void> {
    if (running === 0 && queue.length === 0) return Promise.resolve();
    return new Promise((resolve) => idleWaiters.push(resolve));
  }

  return { submit, idle };
}

function memberOfTrace(): BatchMember | undefined {
  const span = tracing()?.current();
  return span && { span, sinceMs: Date.now() };
}
