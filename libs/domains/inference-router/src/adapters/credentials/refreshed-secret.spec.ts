import { nodeTimers } from '../node/timers';
import { RefreshedSecret } from './refreshed-secret';

const SECOND = 1_000;

it('a secret that expires within minutes is refreshed once half of its time has passed, not at every call', async () => {
  let now = 0;
  let resolved = 0;
  const secret = new RefreshedSecret({
    name: 'credentials',
    resolve: () => Promise.resolve({ value: (resolved += 1), expiresAtMs: now + 120 * SECOND }),
    nowMs: () => now,
    timers: nodeTimers,
    onRefreshFailed: () => undefined,
  });
  expect(await secret.get()).toBe(1);
  now = 59 * SECOND;
  expect(secret.get()).toBe(1);
  expect(resolved).toBe(1);
  now = 60 * SECOND;
  expect(secret.get()).toBe(1);
  expect(resolved).toBe(2);
  await new Promise((resolve) => setImmediate(resolve));
  expect(secret.get()).toBe(2);
});
