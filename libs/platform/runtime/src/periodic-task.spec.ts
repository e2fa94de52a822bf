import { createPeriodicTask } from './periodic-task';

beforeEach(() => jest.useFakeTimers());
afterEach(() => jest.useRealTimers());

it('starts each run an interval after the end of the previous one, never concurrently', async () => {
  const ends: (() => void)[] = [];
  const recurring = createPeriodicTask(() => new Promise((resolve) => ends.push(resolve)), 1_000);
  recurring.start();
  await jest.advanceTimersByTimeAsync(999);
  expect(ends).toHaveLength(0);
  await jest.advanceTimersByTimeAsync(5_000);
  expect(ends).toHaveLength(1);
  ends[0]?.();
  await jest.advanceTimersByTimeAsync(1_000);
  expect(ends).toHaveLength(2);
  ends[1]?.();
});

it('waits for the current run when it is stopped, and starts no other', async () => {
  let end: (() => void) | undefined;
  let runs = 0;
  const recurring = createPeriodicTask(() => {
    runs += 1;
    return new Promise((resolve) => (end = resolve));
  }, 10);
  recurring.start();
  await jest.advanceTimersByTimeAsync(10);
  let stopped = false;
  const stopping = recurring.stop().then(() => (stopped = true));
  await jest.advanceTimersByTimeAsync(1_000);
  expect(stopped).toBe(false);
  end?.();
  await stopping;
  await jest.advanceTimersByTimeAsync(1_000);
  expect(runs).toBe(1);
});
