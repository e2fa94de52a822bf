import { createSilentLogger } from '@gateway/runtime';
import { createLeaseKeeper, type LeaseKeeper } from './lease-keeper';

let nowMs = 0;
let renewed: string[][] = [];
let fault: Error | undefined;
let keeper: LeaseKeeper<string>;

beforeEach(() => {
  jest.useFakeTimers();
  nowMs = 0;
  renewed = [];
  fault = undefined;
  keeper = createLeaseKeeper<string>({
    what: 'leases',
    renew: async (refs) => {
      if (fault) throw fault;
      renewed.push([...refs]);
    },
    now: () => nowMs,
    tickMs: 10,
    log: createSilentLogger(),
  });
  keeper.start();
});
afterEach(() => {
  keeper.stop();
  jest.useRealTimers();
});

async function pass(ms: number): Promise<void> {
  for (let passed = 0; passed < ms; passed += 10) {
    nowMs += 10;
    await jest.advanceTimersByTimeAsync(10);
  }
}

it('a lease is renewed each time a third of it has passed, and together with others', async () => {
  keeper.keep('a', 300);
  keeper.keep('b', 300);
  keeper.keep('long', 3_000);
  await pass(90);
  expect(renewed).toEqual([]);
  await pass(120);
  expect(renewed).toEqual([
    ['a', 'b'],
    ['a', 'b'],
  ]);
});

it('a lease that is no longer needed is not renewed', async () => {
  const stop = keeper.keep('a', 30);
  stop();
  stop();
  await pass(100);
  expect(renewed).toEqual([]);
});

it('a renewal that fails is tried again at the next tick', async () => {
  keeper.keep('a', 300);
  fault = new Error('unreachable');
  await pass(100);
  fault = undefined;
  await pass(10);
  expect(renewed).toEqual([['a']]);
});
