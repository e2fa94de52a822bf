import { runBatch as runTracedBatch, tracing, type BatchMember } from '@gateway/telemetry';

/**
 * Batches by load: the items that arrive while a batch is in flight form the next
 * one. A single item starts at the end of the event-loop turn. With more than one
 * queued, the batch starts after a turn that adds none: a batch costs more than
 * an item, and smaller batches would not return sooner in a busy loop.
 */
export interface AdaptiveBatcherOptions<Item, Result> {
  /** Returns a result per item, in order. A rejection rejects every item of that batch. */
  readonly run: (items: readonly Item[]) => Promise<readonly Result[]>;
  /** At least one, like the other limits. */
  readonly maxBatchSize: number;
  readonly maxConcurrentBatches: number;
  /** How long a batch lingers for more items, in milliseconds. Default 2; 0 starts it at the end of the turn. */
  readonly maxLingerMs?: number;
  /** Further items are refused with `overflow()`, to bound memory when the backend is slow. */
  readonly maxQueuedItems: number;
  readonly overflow: () => Error;
}

export interface AdaptiveBatcher<Item, Result> {
  submit(item: Item): Promise<Result>;
  /** Resolves when nothing is queued or in flight. */
  idle(): Promise<void>;
}

const DEFAULT_LINGER_MS = 2;

interface Queued<Item, Result> {
  readonly item: Item;
  readonly resolve: (result: Result) => void;
  readonly reject: (error: unknown) => void;
  /** The caller's span, if any. */
  readonly member: BatchMember | undefined;
}

export function createAdaptiveBatcher<Item, Result>(
  options: AdaptiveBatcherOptions<Item, Result>,
): AdaptiveBatcher<Item, Result> {
  const { maxBatchSize, maxConcurrentBatches, maxQueuedItems, maxLingerMs = DEFAULT_LINGER_MS } = options;
  if (!(Math.min(maxBatchSize, maxConcurrentBatches, maxQueuedItems) >= 1)) {
    throw new RangeError('the limits of a batcher must be at least one');
  }
  const queue: Queued<Item, Result>[] = [];
  let running = 0;
  let scheduled = false;
  let lastBatchSize = 0;
  let idleListeners: (() => void)[] = [];

  function submit(item: Item): Promise<Result> {
    if (queue.length >= maxQueuedItems) return Promise.reject(options.overflow());
    return new Promise((resolve, reject) => {
      queue.push({ item, resolve, reject, member: memberOfTrace() });
      schedule();
    });
  }

  // After all callbacks of this turn, so that items from several sockets share a
  // batch even when none is in flight.
  function schedule(): void {
    if (scheduled || running >= maxConcurrentBatches) return;
    scheduled = true;
    const isSingle = queue.length === 1 && lastBatchSize <= 1;
    linger(isSingle ? 1 : 0, maxLingerMs === 0 ? 0 : performance.now() + maxLingerMs);
  }

  /** @param seen length of the queue at the end of the previous turn. */
  function linger(seen: number, untilMs: number): void {
    setImmediate(() => {
      if (queue.length > seen && queue.length < maxBatchSize && performance.now() < untilMs) {
        linger(queue.length, untilMs);
        return;
      }
      scheduled = false;
      while (queue.length > 0 && running < maxConcurrentBatches) {
        void runBatch(queue.splice(0, maxBatchSize));
      }
    });
  }

  async function runBatch(batch: Queued<Item, Result>[]): Promise<void> {
    running += 1;
    lastBatchSize = batch.length;
    try {
      const items = batch.map((queued) => queued.item);
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
      batch.forEach((queued, index) => queued.resolve(results[index] as Result));
    } catch (error) {
      for (const queued of batch) queued.reject(error);
    } finally {
      running -= 1;
      if (queue.length > 0) schedule();
      else if (running === 0) notifyIdle();
    }
  }

  function notifyIdle(): void {
    const listeners = idleListeners;
    idleListeners = [];
    for (const notify of listeners) notify();
  }

  function idle(): Promise<void> {
    if (running === 0 && queue.length === 0) return Promise.resolve();
    return new Promise((resolve) => idleListeners.push(resolve));
  }

  return { submit, idle };
}

function memberOfTrace(): BatchMember | undefined {
  const span = tracing()?.current();
  return span && { span, sinceMs: Date.now() };
}
