import { bindService, createClient, createInProcessTransport, RpcError } from '@gateway/rpc';
import { AuthDefinition, KeyGrant } from '@gateway/contracts/auth';
import { createSilentLogger, systemClock } from '@gateway/runtime';
import { Registry } from 'prom-client';
import { createKeyDirectory } from './key-directory';

const KEY = Buffer.alloc(32, 1);

const pause = () => new Promise((resolve) => setTimeout(resolve, 20));

/** A slow auth service, and an edge without a lease, since its watch was never opened. */
function slowAuth(respond: () => Promise<unknown> = pause) {
  let isRevoked = false;
  let calls = 0;
  let inFlight = 0;
  let maxInFlight = 0;
  const verifyKey = async () => {
    calls += 1;
    inFlight += 1;
    maxInFlight = Math.max(maxInFlight, inFlight);
    // Read before the response is sent.
    const grant = isRevoked ? undefined : KeyGrant.fromPartial({ keyId: 'key-1' });
    await respond();
    inFlight -= 1;
    return { outcome: grant && { $case: 'grant' as const, value: grant } };
  };
  const handlers = { verifyKey } as unknown as Parameters<typeof bindService<typeof AuthDefinition>>[1];
  const log = createSilentLogger();
  const directory = createKeyDirectory({
    auth: createClient(
      AuthDefinition,
      createInProcessTransport([bindService(AuthDefinition, handlers)], { log }),
    ),
    edgeId: 'edge-1',
    clock: systemClock,
    log,
    metrics: new Registry(),
  });
  return { directory, revoke: () => (isRevoked = true), calls: () => calls, maxInFlight: () => maxInFlight };
}

describe('an edge without a lease', () => {
  it('calls a slow auth twice for five hundred requests with one key', async () => {
    const { directory, calls, maxInFlight } = slowAuth();
    const found = await Promise.all(Array.from({ length: 500 }, () => directory.lookup(KEY)));
    expect(found.filter((grant) => grant?.keyId === 'key-1')).toHaveLength(500);
    expect([calls(), maxInFlight()]).toEqual([2, 1]);
  });

  it('never accepts a request by a lookup that was in flight when its key was revoked', async () => {
    const { directory, revoke } = slowAuth();
    const before = directory.lookup(KEY);
    revoke();
    const after = directory.lookup(KEY);
    expect(await before).toMatchObject({ keyId: 'key-1' });
    expect(await after).toBeUndefined();
  });

  it('rejects a cancelled lookup immediately, and completes those that share its call', async () => {
    const { directory } = slowAuth();
    const cancelled = new AbortController();
    const first = directory.lookup(KEY, { signal: cancelled.signal });
    const second = directory.lookup(KEY, { signal: cancelled.signal });
    const third = directory.lookup(KEY);
    cancelled.abort(new Error('cancelled'));
    await expect(first).rejects.toThrow('cancelled');
    await expect(second).rejects.toThrow('cancelled');
    expect(await third).toMatchObject({ keyId: 'key-1' });
  });

  it('reports an auth that is too slow or unavailable as a lack of capacity, never as an unknown key', async () => {
    for (const code of ['deadline_exceeded', 'unavailable'] as const) {
      const { directory } = slowAuth(() => Promise.reject(new RpcError(code, 'no response')));
      await expect(directory.lookup(KEY)).rejects.toMatchObject({ code: 'no_capacity' });
    }
  });
});
