import { createAdaptiveBatcher, type AdaptiveBatcherOptions } from './adaptive-batcher';

/** A backend whose batches are answered by hand. */
function backend() {
  const batches: { items: readonly number[]; answer: () => void; fail: (error: Error) => void }[] = [];
  const run = (items: readonly number[]) =>
    new Promise<readonly number[]>((resolve, reject) => {
      batches.push({ items, answer: () => resolve(items.map((item) => item * 10)), fail: reject });
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
    maxGatherMs: 0,
    overflow: () => new Error('too many'),
    ...options,
  });
  return { batcher, batches };
}

/** Until what an answer set going has begun: a batch starts at the end of a turn of the event loop. */
async function turn(): Promise<void> {
  for (let turns = 0; turns < 2; turns += 1) await new Promise<void>((resolve) => setImmediate(resolve));
}

describe('adaptive batching', () => {
  it('what is submitted together travels together, and each item gets its own answer', async () => {
    const { batcher, batches } = setUp();
    const answers = Promise.all([1, 2, 3].map((item) => batcher.submit(item)));
    await turn();
    expect(batches.map((batch) => batch.items)).toEqual([[1, 2, 3]]);
    batches[0]?.answer();
    expect(await answers).toEqual([10, 20, 30]);
  });

  it('what comes from several events of one turn travels together', async () => {
    const { batcher, batches } = setUp();
    for (const item of [1, 2]) setImmediate(() => void batcher.submit(item));
    await turn();
    expect(batches.map((batch) => batch.items)).toEqual([[1, 2]]);
  });

  it('what arrives while a batch is under way forms the next one', async () => {
    const { batcher, batches } = setUp();
    void batcher.submit(1);
    await turn();
    void batcher.submit(2);
    await turn();
    void batcher.submit(3);
    await turn();
    expect(batches).toHaveLength(1);
    batches[0]?.answer();
    await turn();
    expect(batches.map((batch) => batch.items)).toEqual([[1], [2, 3]]);
  });

  it('a batch is never larger than its limit, nor are more under way than allowed', async () => {
    const { batcher, batches } = setUp({ maxBatchSize: 2, maxConcurrentBatches: 2 });
    const answers = Promise.all([1, 2, 3, 4, 5].map((item) => batcher.submit(item)));
    await turn();
    expect(batches.map((batch) => batch.items)).toEqual([
      [1, 2],
      [3, 4],
    ]);
    batches[1]?.answer();
    await turn();
    expect(batches[2]?.items).toEqual([5]);
    batches[0]?.answer();
    batches[2]?.answer();
    expect(await answers).toEqual([10, 20, 30, 40, 50]);
  });

  it('a failed batch rejects its own items and no others', async () => {
    const { batcher, batches } = setUp({ maxBatchSize: 1 });
    const first = expect(batcher.submit(1)).rejects.toThrow('down');
    const second = batcher.submit(2);
    await turn();
    batches[0]?.fail(new Error('down'));
    await first;
    await turn();
    batches[1]?.answer();
    expect(await second).toBe(20);
  });

  it('a backend that throws at once, or answers too few, rejects its items and stays usable', async () => {
    let attempt = 0;
    const { batcher } = setUp({
      run: (items) => {
        attempt += 1;
        if (attempt === 1) throw new Error('at once');
        return Promise.resolve(attempt === 2 ? [] : items);
      },
    });
    await expect(batcher.submit(1)).rejects.toThrow('at once');
    await expect(batcher.submit(2)).rejects.toThrow('a batch of 1 got 0 results');
    expect(await batcher.submit(3)).toBe(3);
  });

  it('refuses items beyond its queue, and takes them again once it has drained', async () => {
    const { batcher, batches } = setUp({ maxBatchSize: 1, maxQueuedItems: 2 });
    const first = batcher.submit(1);
    await turn();
    const waiting = [batcher.submit(2), batcher.submit(3)];
    await expect(batcher.submit(4)).rejects.toThrow('too many');
    batches[0]?.answer();
    await first;
    await turn();
    const late = batcher.submit(5);
    for (const index of [1, 2, 3]) {
      batches[index]?.answer();
      await turn();
    }
    expect(await Promise.all([...waiting, late])).toEqual([20, 30, 50]);
  });

  it('is idle only when nothing is queued or under way', async () => {
    const { batcher, batches } = setUp({ maxBatchSize: 1 });
    await batcher.idle();
    let idle = false;
    const answers = [batcher.submit(1), batcher.submit(2)];
    const waiting = batcher.idle().then(() => {
      idle = true;
    });
    await turn();
    batches[0]?.answer();
    await turn();
    expect(idle).toBe(false);
    batches[1]?.answer();
    await waiting;
    expect(await Promise.all(answers)).toEqual([10, 20]);
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
    'does not accept a %s below one, with which it could never answer',
    (limit) => {
      expect(() => setUp({ [limit]: 0 })).toThrow(RangeError);
    },
  );
});

describe('a batch that gathers', () => {
  /** Submits one item at the end of each of so many turns, one after the other. */
  async function submitTurnByTurn(
    batcher: { submit(item: number): Promise<number> },
    items: readonly number[],
  ) {
    for (const item of items) {
      void batcher.submit(item);
      await new Promise<void>((resolve) => setImmediate(resolve));
    }
  }

  async function inCompany(maxGatherMs: number) {
    const { batcher, batches } = setUp({ maxGatherMs, maxConcurrentBatches: 2 });
    void batcher.submit(1);
    void batcher.submit(2);
    while (batches.length === 0) await turn();
    batches[0]?.answer();
    await turn();
    return { batcher, itemsOf: () => batches.slice(1).map(({ items }) => items) };
  }

  it('leaves once a turn brought nothing more', async () => {
    const { batcher, itemsOf } = await inCompany(60_000);
    await submitTurnByTurn(batcher, [3, 4, 5]);
    await turn();
    expect(itemsOf()).toEqual([[3, 4, 5]]);
  });

  it('leaves when its time is over, whatever comes', async () => {
    const clock = jest.spyOn(performance, 'now').mockReturnValue(0);
    const { batcher, itemsOf } = await inCompany(2);
    await submitTurnByTurn(batcher, [3, 4]);
    clock.mockReturnValue(2);
    await submitTurnByTurn(batcher, [5, 6]);
    await turn();
    expect(itemsOf()[0]?.length).toBeLessThan(4);
    expect(itemsOf().flat()).toEqual([3, 4, 5, 6]);
    clock.mockRestore();
  });

  it('leaves when it is full', async () => {
    const { batcher, batches } = setUp({ maxGatherMs: 60_000, maxBatchSize: 2, maxConcurrentBatches: 2 });
    for (const item of [1, 2, 3, 4]) void batcher.submit(item);
    await new Promise<void>((resolve) => setImmediate(resolve));
    expect(batches.map(({ items }) => items)).toEqual([
      [1, 2],
      [3, 4],
    ]);
  });

  it('leaves at the end of the turn when it is alone, as the one before was', async () => {
    const { batcher, batches } = setUp({ maxGatherMs: 60_000, maxConcurrentBatches: 2 });
    await submitTurnByTurn(batcher, [1]);
    expect(batches.map(({ items }) => items)).toEqual([[1]]);
  });
});
