import { runBatch as runTracedBatch, tracing, type BatchMember } from '@gateway/telemetry';

/**
 * Natural batching: what arrives while a batch is under way forms the next
 * one. There is no timer, so an idle caller waits for nothing but the end of the
 * event loop's turn, and under load one round trip serves many.
 */
export interface NaturalBatcherOptions<Item, Result> {
  /** Answers each item, in order. A rejection rejects every item of that batch. */
  readonly run: (items: readonly Item[]) => Promise<readonly Result[]>;
  /** At least one, as the other limits. */
  readonly maxBatchSize: number;
  /** Batches under way at once. */
  readonly maxConcurrentBatches: number;
  /** Items waiting beyond this are refused with `overflow()`, so that a slow backend cannot eat memory. */
  readonly maxQueuedItems: number;
  readonly overflow: () => Error;
}

export interface NaturalBatcher<Item, Result> {
  submit(item: Item): Promise<Result>;
  /** Resolves when nothing is queued or under way. */
  idle(): Promise<void>;
}

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
  const { maxBatchSize, maxConcurrentBatches, maxQueuedItems } = options;
  if (!(Math.min(maxBatchSize, maxConcurrentBatches, maxQueuedItems) >= 1)) {
    throw new RangeError('the limits of a batcher are at least one');
  }
  const queue: Waiting<Item, Result>[] = [];
  let running = 0;
  let scheduled = false;
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
    setImmediate(() => {
      scheduled = false;
      while (queue.length > 0 && running < maxConcurrentBatches) {
        void runBatch(queue.splice(0, maxBatchSize));
      }
    });
  }

  async function runBatch(batch: Waiting<Item, Result>[]): Promise<void> {
    running += 1;
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
