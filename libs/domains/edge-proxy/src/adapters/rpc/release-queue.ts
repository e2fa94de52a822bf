import { retry } from '@gateway/base';
import { createAdaptiveBatcher, type Logger } from '@gateway/runtime';
import { limits } from '../../core';

export interface ReleaseQueuePorts<Item> {
  /** For the log, such as "finished admissions". */
  readonly what: string;
  /** Must be idempotent: a batch whose response is lost is sent again. */
  readonly send: (items: readonly Item[]) => Promise<void>;
  readonly log: Logger;
  readonly onDropped: (count: number) => void;
}

export interface ReleaseQueue<Item> {
  /** Resolves when the item is delivered, at the earliest after `delayMs`, or dropped. Never rejects. */
  submit(item: Item, delayMs?: number): Promise<void>;
  /** Resolves when the queue is empty. */
  idle(): Promise<void>;
}

const { maxBatchSize, maxConcurrentBatches, maxPending, maxAttempts, backoff } = limits.releases;

/**
 * Delivers releases to another service in batches, with retries. After about
 * 20 s an item is dropped, and its lease or deadline frees it.
 */
export function createReleaseQueue<Item>({
  what,
  send,
  log,
  onDropped,
}: ReleaseQueuePorts<Item>): ReleaseQueue<Item> {
  let pending = 0;
  let idleWaiters: (() => void)[] = [];

  const batcher = createAdaptiveBatcher<Item, undefined>({
    run: async (items) => {
      await send(items);
      return items.map(() => undefined);
    },
    maxBatchSize,
    maxConcurrentBatches,
    maxQueuedItems: maxPending,
    overflow: () => new Error('too many releases are queued'),
  });

  async function submit(item: Item, delayMs = 0): Promise<void> {
    if (pending >= maxPending) {
      onDropped(1);
      return;
    }
    pending += 1;
    try {
      if (delayMs > 0) await new Promise((resolve) => setTimeout(resolve, delayMs));
      await deliver(item);
    } finally {
      pending -= 1;
      if (pending === 0) wakeIdleWaiters();
    }
  }

  async function deliver(item: Item): Promise<void> {
    try {
      await retry(() => batcher.submit(item), { backoff, maxAttempts });
    } catch (error) {
      onDropped(1);
      log.error({ err: error, what }, 'could not deliver a release; its lease or deadline frees it');
    }
  }

  function wakeIdleWaiters(): void {
    const waiters = idleWaiters;
    idleWaiters = [];
    for (const wake of waiters) wake();
  }

  return {
    submit,
    idle: () =>
      pending === 0 ? Promise.resolve() : new Promise((resolve) => idleWaiters.push(() => resolve())),
  };
}
