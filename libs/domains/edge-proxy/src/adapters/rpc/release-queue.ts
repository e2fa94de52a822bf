import { retry } from '@gateway/base';
import { createAdaptiveBatcher, type Logger } from '@gateway/runtime';
import { limits } from '../../core';

export interface ReleaseQueuePorts<Item> {
  /** For the log, such as "finished admissions". */
  readonly what: string;
  /** Must be idempotent: a batch whose answer is lost is sent again. */
  readonly send: (items: readonly Item[]) => Promise<void>;
  readonly log: Logger;
  readonly onDropped: (count: number) => void;
}

export interface ReleaseQueue<Item> {
  /** Resolves when the item is delivered, or given up. Never rejects. */
  submit(item: Item): Promise<void>;
  /** Resolves when nothing is waiting to be delivered. */
  idle(): Promise<void>;
}

const { maxBatchSize, maxConcurrentBatches, maxPending, maxAttempts, backoff } = limits.releases;

/**
 * Releases things at another service: in batches, and again when that
 * service cannot be reached. What is given up after about twenty seconds falls
 * to that service's own safety net (slot leases, hold deadlines, claim leases).
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
    overflow: () => new Error('too many releases are waiting'),
  });

  async function submit(item: Item): Promise<void> {
    if (pending >= maxPending) {
      onDropped(1);
      return;
    }
    pending += 1;
    try {
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
      log.error({ err: error, what }, 'gave up releasing something; its lease or deadline frees it');
    }
  }

  function wakeIdleWaiters(): void {
    const waiting = idleWaiters;
    idleWaiters = [];
    for (const wake of waiting) wake();
  }

  return {
    submit,
    idle: () =>
      pending === 0 ? Promise.resolve() : new Promise((resolve) => idleWaiters.push(() => resolve())),
  };
}
