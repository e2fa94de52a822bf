import { createSilentLogger } from '@gateway/runtime';
import { createLeaseRenewer, type LeaseRenewer } from './lease-renewer';

let nowMs = 0;
let renewed: string[][] = [];
let failure: Error | undefined;
let renewer: LeaseRenewer<string>;

beforeEach(() => {
  jest.useFakeTimers();
  nowMs = 0;
  renewed = [];
  failure = undefined;
  renewer = createLeaseRenewer<string>({
    what: 'leases',
    renew: async (refs) => {
      if (failure) throw failure;
      renewed.push([...refs]);
    },
    now: () => nowMs,
    tickMs: 10,
    log: createSilentLogger(),
  });
  renewer.start();
});
afterEach(() => {
  renewer.stop();
  jest.useRealTimers();
});

async function pass(ms: number): Promise<void> {
  for (let passed = 0; passed < ms; passed += 10) {
    nowMs += 10;
    await jest.advanceTimersByTimeAsync(10);
  }
}

it('renews a lease each time a third of it has passed, together with others', async () => {
  renewer.add('a', 300);
  renewer.add('b', 300);
  renewer.add('long', 3_000);
  await pass(90);
  expect(renewed).toEqual([]);
  await pass(120);
  expect(renewed).toEqual([
    ['a', 'b'],
    ['a', 'b'],
  ]);
});

it('does not renew a removed lease', async () => {
  const stop = renewer.add('a', 30);
  stop();
  stop();
  await pass(100);
  expect(renewed).toEqual([]);
});

it('retries a failed renewal at the next tick', async () => {
  renewer.add('a', 300);
  failure = new Error('unreachable');
  await pass(100);
  failure = undefined;
  await pass(10);
  expect(renewed).toEqual([['a']]);
});
