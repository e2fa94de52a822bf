import { createAdaptiveBatcher, type AdaptiveBatcherOptions } from './adaptive-batcher';

/** A backend whose batches the test completes. */
function backend() {
  const batches: { items: readonly number[]; complete: () => void; fail: (error: Error) => void }[] = [];
  const run = (items: readonly number[]) =>
    new Promise<readonly number[]>((resolve, reject) => {
      batches.push({ items, complete: () => resolve(items.map((item) => item * 10)), fail: reject });
    });
  return { batches, run };
}

function setUp(options: Partial<AdaptiveBatcherOptions<number, number>> = {}) {
  const { batches, run } = backend();
  const batcher = createAdaptiveBatcher({
    run,
    maxBatchSize: 100,
    maxConcurrentBatches: 1,
    maxQueuedItems: 1_000,
    maxLingerMs: 0,
    overflow: () => new Error('too many'),
    ...options,
  });
  return { batcher, batches };
}

/** Waits until the next batch has started, which is at the end of a turn of the event loop. */
async function turn(): Promise<void> {
  for (let turns = 0; turns < 2; turns += 1) await new Promise<void>((resolve) => setImmediate(resolve));
}

describe('adaptive batching', () => {
  it('items submitted together form one batch, and each item gets its own result', async () => {
    const { batcher, batches } = setUp();
    const results = Promise.all([1, 2, 3].map((item) => batcher.submit(item)));
    await turn();
    expect(batches.map((batch) => batch.items)).toEqual([[1, 2, 3]]);
    batches[0]?.complete();
    expect(await results).toEqual([10, 20, 30]);
  });

  it('items from several events of one turn form one batch', async () => {
    const { batcher, batches } = setUp();
    for (const item of [1, 2]) setImmediate(() => void batcher.submit(item));
    await turn();
    expect(batches.map((batch) => batch.items)).toEqual([[1, 2]]);
  });

  it('items that arrive while a batch is in flight form the next one', async () => {
    const { batcher, batches } = setUp();
    void batcher.submit(1);
    await turn();
    void batcher.submit(2);
    await turn();
    void batcher.submit(3);
    await turn();
    expect(batches).toHaveLength(1);
    batches[0]?.complete();
    await turn();
    expect(batches.map((batch) => batch.items)).toEqual([[1], [2, 3]]);
  });

  it('limits the size of batches and the number in flight', async () => {
    const { batcher, batches } = setUp({ maxBatchSize: 2, maxConcurrentBatches: 2 });
    const results = Promise.all([1, 2, 3, 4, 5].map((item) => batcher.submit(item)));
    await turn();
    expect(batches.map((batch) => batch.items)).toEqual([
      [1, 2],
      [3, 4],
    ]);
    batches[1]?.complete();
    await turn();
    expect(batches[2]?.items).toEqual([5]);
    batches[0]?.complete();
    batches[2]?.complete();
    expect(await results).toEqual([10, 20, 30, 40, 50]);
  });

  it('a failed batch rejects only its own items', async () => {
    const { batcher, batches } = setUp({ maxBatchSize: 1 });
    const first = expect(batcher.submit(1)).rejects.toThrow('down');
    const second = batcher.submit(2);
    await turn();
    batches[0]?.fail(new Error('down'));
    await first;
    await turn();
    batches[1]?.complete();
    expect(await second).toBe(20);
  });

  it('a backend that throws synchronously, or returns too few results, rejects its items and stays usable', async () => {
    let attempt = 0;
    const { batcher } = setUp({
      run: (items) => {
        attempt += 1;
        if (attempt === 1) throw new Error('synchronous');
        return Promise.resolve(attempt === 2 ? [] : items);
      },
    });
    await expect(batcher.submit(1)).rejects.toThrow('synchronous');
    await expect(batcher.submit(2)).rejects.toThrow('a batch of 1 got 0 results');
    expect(await batcher.submit(3)).toBe(3);
  });

  it('refuses items when its queue is full, and accepts them again once it has drained', async () => {
    const { batcher, batches } = setUp({ maxBatchSize: 1, maxQueuedItems: 2 });
    const first = batcher.submit(1);
    await turn();
    const queued = [batcher.submit(2), batcher.submit(3)];
    await expect(batcher.submit(4)).rejects.toThrow('too many');
    batches[0]?.complete();
    await first;
    await turn();
    const late = batcher.submit(5);
    for (const index of [1, 2, 3]) {
      batches[index]?.complete();
      await turn();
    }
    expect(await Promise.all([...queued, late])).toEqual([20, 30, 50]);
  });

  it('is idle only when nothing is queued or in flight', async () => {
    const { batcher, batches } = setUp({ maxBatchSize: 1 });
    await batcher.idle();
    let idle = false;
    const results = [batcher.submit(1), batcher.submit(2)];
    const waiting = batcher.idle().then(() => {
      idle = true;
    });
    await turn();
    batches[0]?.complete();
    await turn();
    expect(idle).toBe(false);
    batches[1]?.complete();
    await waiting;
    expect(await Promise.all(results)).toEqual([10, 20]);
  });

  it('is idle after a failure too', async () => {
    const { batcher, batches } = setUp();
    const failed = expect(batcher.submit(1)).rejects.toThrow('down');
    const idle = batcher.idle();
    await turn();
    batches[0]?.fail(new Error('down'));
    await Promise.all([failed, idle]);
  });

  it.each(['maxBatchSize', 'maxConcurrentBatches', 'maxQueuedItems'] as const)(
    'rejects a %s below one',
    (limit) => {
      expect(() => setUp({ [limit]: 0 })).toThrow(RangeError);
    },
  );
});

describe('a lingering batch', () => {
  /** Submits one item in each turn of the event loop. */
  async function submitTurnByTurn(
    batcher: { submit(item: number): Promise<number> },
    items: readonly number[],
  ) {
    for (const item of items) {
      void batcher.submit(item);
      await new Promise<void>((resolve) => setImmediate(resolve));
    }
  }

  async function withPreviousBatchOfTwo(maxLingerMs: number) {
    const { batcher, batches } = setUp({ maxLingerMs, maxConcurrentBatches: 2 });
    void batcher.submit(1);
    void batcher.submit(2);
    while (batches.length === 0) await turn();
    batches[0]?.complete();
    await turn();
    return { batcher, itemsOf: () => batches.slice(1).map(({ items }) => items) };
  }

  it('starts after a turn without new items', async () => {
    const { batcher, itemsOf } = await withPreviousBatchOfTwo(60_000);
    await submitTurnByTurn(batcher, [3, 4, 5]);
    await turn();
    expect(itemsOf()).toEqual([[3, 4, 5]]);
  });

  it('starts after its linger time, even if items still arrive', async () => {
    const clock = jest.spyOn(performance, 'now').mockReturnValue(0);
    const { batcher, itemsOf } = await withPreviousBatchOfTwo(2);
    await submitTurnByTurn(batcher, [3, 4]);
    clock.mockReturnValue(2);
    await submitTurnByTurn(batcher, [5, 6]);
    await turn();
    expect(itemsOf()[0]?.length).toBeLessThan(4);
    expect(itemsOf().flat()).toEqual([3, 4, 5, 6]);
    clock.mockRestore();
  });

  it('starts when it is full', async () => {
    const { batcher, batches } = setUp({ maxLingerMs: 60_000, maxBatchSize: 2, maxConcurrentBatches: 2 });
    for (const item of [1, 2, 3, 4]) void batcher.submit(item);
    await new Promise<void>((resolve) => setImmediate(resolve));
    expect(batches.map(({ items }) => items)).toEqual([
      [1, 2],
      [3, 4],
    ]);
  });

  it('starts at the end of the turn if it and the previous batch have a single item', async () => {
    const { batcher, batches } = setUp({ maxLingerMs: 60_000, maxConcurrentBatches: 2 });
    await submitTurnByTurn(batcher, [1]);
    expect(batches.map(({ items }) => items)).toEqual([[1]]);
  });
});
