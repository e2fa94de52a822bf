import { bindService, createClient, createInProcessTransport, RpcError } from '@gateway/rpc';
import { AuthDefinition, KeyGrant } from '@gateway/contracts/auth';
import { createSilentLogger, systemClock } from '@gateway/runtime';
import { Registry } from 'prom-client';
import { createKeyDirectory } from './key-directory';

const KEY = Buffer.alloc(32, 1);

const pause = () => new Promise((resolve) => setTimeout(resolve, 20));

/** An auth that takes its time, with an edge that has no lease: its watch was never opened. */
function slowAuth(respond: () => Promise<unknown> = pause) {
  let isRevoked = false;
  let asked = 0;
  let underWay = 0;
  let most = 0;
  const verifyKey = async () => {
    asked += 1;
    underWay += 1;
    most = Math.max(most, underWay);
    // What is so when auth looks, which is before its answer comes.
    const grant = isRevoked ? undefined : KeyGrant.fromPartial({ keyId: 'key-1' });
    await respond();
    underWay -= 1;
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
  return { directory, revoke: () => (isRevoked = true), asked: () => asked, most: () => most };
}

describe('an edge without a lease', () => {
  it('asks a slow auth twice for five hundred requests with one key, not five hundred times', async () => {
    const { directory, asked, most } = slowAuth();
    const found = await Promise.all(Array.from({ length: 500 }, () => directory.lookup(KEY)));
    expect(found.filter((grant) => grant?.keyId === 'key-1')).toHaveLength(500);
    expect([asked(), most()]).toEqual([2, 1]);
  });

  it('never lets a request in by an answer that was under way when its key was revoked', async () => {
    const { directory, revoke } = slowAuth();
    const before = directory.lookup(KEY);
    revoke();
    const after = directory.lookup(KEY);
    expect(await before).toMatchObject({ keyId: 'key-1' });
    expect(await after).toBeUndefined();
  });

  it('lets a request that is cancelled go at once, and those that share its answer have theirs', async () => {
    const { directory } = slowAuth();
    const cancelled = new AbortController();
    const first = directory.lookup(KEY, { signal: cancelled.signal });
    const second = directory.lookup(KEY, { signal: cancelled.signal });
    const third = directory.lookup(KEY);
    cancelled.abort(new Error('gone'));
    await expect(first).rejects.toThrow('gone');
    await expect(second).rejects.toThrow('gone');
    expect(await third).toMatchObject({ keyId: 'key-1' });
  });

  it('reports an auth that is too slow or unavailable as a lack of capacity, never as an unknown key', async () => {
    for (const code of ['deadline_exceeded', 'unavailable'] as const) {
      const { directory } = slowAuth(() => Promise.reject(new RpcError(code, 'no response')));
      await expect(directory.lookup(KEY)).rejects.toMatchObject({ code: 'no_capacity' });
    }
  });
});
