import { eventually } from './eventually';

beforeEach(() => jest.useFakeTimers());
afterEach(() => jest.useRealTimers());

/** The times of all calls until a wait of this duration ends. */
async function callsWithin(durationMs: number): Promise<readonly number[]> {
  const start = Date.now();
  const calls: number[] = [];
  const waiting = eventually('the end', async () => {
    calls.push(Date.now() - start);
    return Date.now() - start >= durationMs ? true : undefined;
  });
  await jest.advanceTimersByTimeAsync(2 * durationMs);
  await waiting;
  return calls;
}

describe('a wait', () => {
  it.each([0, 10, 100, 1_000, 10_000])(
    'of %d ms ends at most a tenth, or 20 ms, later',
    async (durationMs) => {
      const [end = Infinity] = (await callsWithin(durationMs)).slice(-1);
      expect(end - durationMs).toBeLessThanOrEqual(Math.max(20, durationMs / 10));
    },
  );

  it('polls less often the longer it lasts, and at least every 200 ms', async () => {
    const calls = await callsWithin(10_000);
    const intervals = calls.slice(1).map((call, index) => call - (calls[index] ?? 0));
    expect(intervals).toEqual([...intervals].sort((one, other) => one - other));
    expect([intervals[0], intervals.at(-1)]).toEqual([20, 200]);
  });

  it('fails with its name after the timeout', async () => {
    const waiting = eventually('the end', () => Promise.resolve(undefined), { timeoutMs: 1_000 });
    const failed = expect(waiting).rejects.toThrow('timed out waiting for: the end');
    await jest.advanceTimersByTimeAsync(1_500);
    await failed;
  });
});
