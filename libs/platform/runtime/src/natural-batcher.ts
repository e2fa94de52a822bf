import { runBatch as runTracedBatch, tracing, type BatchMember } from '@gateway/telemetry';

/**
 * Natural batching: what arrives while a batch is under way forms the next
 * one. There is no timer, so an idle caller waits for nothing but the end of the
 * event loop's turn, and under load one round trip serves many.
 *
 * A batch costs more than an item. So one in company leaves once a turn of the
 * event loop has brought nothing more: a loop that has time passes such a turn
 * within microseconds, and one that has none would not get an answer sooner by
 * asking more often.
 */
export interface NaturalBatcherOptions<Item, Result> {
  /** Answers each item, in order. A rejection rejects every item of that batch. */
  readonly run: (items: readonly Item[]) => Promise<readonly Result[]>;
  /** At least one, as the other limits. */
  readonly maxBatchSize: number;
  /** Batches under way at once. */
  readonly maxConcurrentBatches: number;
  /**
   * The longest that a batch gathers, in milliseconds. Default 2; at 0 it leaves
   * at the end of the turn, as one does that is alone like the one before.
   */
  readonly maxGatherMs?: number;
  /** Items waiting beyond this are refused with `overflow()`, so that a slow backend cannot eat memory. */
  readonly maxQueuedItems: number;
  readonly overflow: () => Error;
}

export interface NaturalBatcher<Item, Result> {
  submit(item: Item): Promise<Result>;
  /** Resolves when nothing is queued or under way. */
  idle(): Promise<void>;
}

const DEFAULT_GATHER_MS = 2;

interface Waiting<Item, Result> {
  readonly item: Item;
  readonly resolve: (result: Result) => void;
  readonly reject: (error: unknown) => void;
  /** The span that asked for it, while there is one. */
  readonly member: BatchMember | undefined;
}

export function createNaturalBatcher<Item, Result>(
  options: NaturalBatcherOptions<Item, Result>,
): NaturalBatcher<Item, Result> {
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

  // After everything that the event loop has at hand now: what several sockets
  // have brought travels together even when nothing is under way.
  function schedule(): void {
    if (scheduled || running >= maxConcurrentBatches) return;
    scheduled = true;
    const isAlone = queue.length === 1 && sizeOfLast <= 1;
    gather(isAlone ? 1 : 0, maxGatherMs === 0 ? 0 : performance.now() + maxGatherMs);
  }

  /** @param seen of the queue by the end of the turn before. */
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
