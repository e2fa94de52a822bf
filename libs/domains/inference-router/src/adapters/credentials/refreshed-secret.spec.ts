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

it.each([
  'invalid_client: the secret 0f9E~8d7C.6b5A_4f3e-2d1c of app 8c5d1e2f is wrong',
  'invalid assertion "0f9E8d7C6b5A.4f3e2d1c0b9a.8f7e"',
  'SignatureDoesNotMatch: 0A1B2C3D4E5F6A7B8C9D, 0f9E8d7C/6b5A4f3e+2d1c',
  'unauthorized: Bearer 0f9E',
])('the reason of a failure repeats no secret that the endpoint repeats: %s', async (text) => {
  const secret = new RefreshedSecret({
    name: 'credentials',
    resolve: () => Promise.reject(new Error(text)),
    nowMs: () => 0,
    timers: nodeTimers,
    onRefreshFailed: () => undefined,
  });
  const failure = await Promise.resolve(secret.get()).catch(String);
  expect(failure).toContain('credentials are unavailable: ');
  expect(failure).toContain('[removed]');
  expect(failure).not.toMatch(/0f9E|2d1c|0A1B/);
});

it('the reason of a failure keeps what operators need: names of errors, hosts and paths', async () => {
  const reason =
    "ENOENT: no such file or directory, open '/var/run/secrets/azure/tokens/azure-identity-token'";
  const secret = new RefreshedSecret({
    name: 'credentials',
    resolve: () => Promise.reject(new Error(reason)),
    nowMs: () => 0,
    timers: nodeTimers,
    onRefreshFailed: () => undefined,
  });
  expect(await Promise.resolve(secret.get()).catch(String)).toContain(reason);
});
