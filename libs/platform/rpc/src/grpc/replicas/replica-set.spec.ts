import { isRpcUnreachable } from '../../rpc-error';
import type { Replica } from './replica';
import { ReplicaSet } from './replica-set';

let set: ReplicaSet;

afterEach(() => set.close());

interface State {
  readonly calls?: number;
  readonly isCallable?: boolean;
  readonly isConnected?: boolean;
  readonly lastResponseMs?: number;
}

async function setOf(states: Readonly<Record<string, State>>): Promise<void> {
  const servers = Object.keys(states).map((address) => ({ address, host: address }));
  set = new ReplicaSet(
    {
      resolve: async () => servers,
      connect: ({ address }) =>
        ({
          calls: 0,
          isCallable: false,
          isConnected: true,
          lastResponseMs: 0,
          ...states[address],
          address,
          tick: () => undefined,
          retire: () => undefined,
          close: () => undefined,
        }) as unknown as Replica,
    },
    { resolveIntervalMs: 60_000, checkIntervalMs: 60_000 },
  );
  await new Promise(setImmediate);
}

const picked = async (): Promise<string> => (await set.pickOrWait(1, undefined)).address;

it('picks the responsive replica with the fewest calls', async () => {
  await setOf({ a: { isCallable: true, calls: 2 }, b: { isCallable: true, calls: 1 }, c: { calls: 0 } });
  expect(await picked()).toBe('b');
});

it('picks the replica that responded last when none is responsive', async () => {
  await setOf({
    a: { lastResponseMs: 10 },
    b: { lastResponseMs: 30 },
    c: { lastResponseMs: 40, isConnected: false },
  });
  expect(await picked()).toBe('b');
});

it('fails as unreachable when no replica is connected', async () => {
  await setOf({ a: { isConnected: false } });
  expect(isRpcUnreachable(await picked().catch((error: unknown) => error))).toBe(true);
});
