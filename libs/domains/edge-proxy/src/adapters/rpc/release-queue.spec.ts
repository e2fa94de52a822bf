import { createSilentLogger } from '@gateway/runtime';
import { createReleaseQueue } from './release-queue';

beforeEach(() => jest.useFakeTimers({ doNotFake: ['queueMicrotask', 'nextTick'] }));
afterEach(() => jest.useRealTimers());

function queueThatFails(times: number) {
  let failures = 0;
  const delivered: string[] = [];
  const dropped: number[] = [];
  const queue = createReleaseQueue<string>({
    what: 'things',
    send: async (items) => {
      if (failures < times) {
        failures += 1;
        throw new Error('unreachable');
      }
      delivered.push(...items);
    },
    log: createSilentLogger(),
    onDropped: (count) => dropped.push(count),
  });
  return { queue, delivered, dropped };
}

it('retries items that cannot be delivered, and idle waits for them', async () => {
  const { queue, delivered, dropped } = queueThatFails(3);
  void queue.submit('a');
  void queue.submit('b');
  const idle = queue.idle();
  await jest.advanceTimersByTimeAsync(2_000);
  await idle;
  expect(delivered.sort()).toEqual(['a', 'b']);
  expect(dropped).toEqual([]);
});

it('delivers a delayed item after its delay, and idle waits for it', async () => {
  const { queue, delivered } = queueThatFails(0);
  void queue.submit('delayed', 1_000);
  void queue.submit('immediate');
  const idle = queue.idle();
  await jest.advanceTimersByTimeAsync(999);
  expect(delivered).toEqual(['immediate']);
  await jest.advanceTimersByTimeAsync(50);
  await idle;
  expect(delivered).toEqual(['immediate', 'delayed']);
});

it('drops and counts an item after the last attempt, and never rejects', async () => {
  const { queue, delivered, dropped } = queueThatFails(Infinity);
  const submitted = queue.submit('a');
  await jest.advanceTimersByTimeAsync(60_000);
  await expect(submitted).resolves.toBeUndefined();
  await queue.idle();
  expect(delivered).toEqual([]);
  expect(dropped).toEqual([1]);
});
