import { isRpcUnreachable } from '../../rpc-error';
import type { Replica } from './replica';
import { ReplicaSet } from './replica-set';

let set: ReplicaSet;

afterEach(() => set.close());

interface State {
  readonly calls?: number;
  readonly isCallable?: boolean;
  readonly isConnected?: boolean;
  readonly lastHeardMs?: number;
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
          lastHeardMs: 0,
          ...states[address],
          address,
          tick: () => undefined,
          retire: () => undefined,
          close: () => undefined,
        }) as unknown as Replica,
    },
    { resolveEveryMs: 60_000, tickMs: 60_000 },
  );
  await new Promise(setImmediate);
}

const picked = async (): Promise<string> => (await set.pickInTime(1, undefined)).address;

it('takes the replica with the fewest calls, of those that answer', async () => {
  await setOf({ a: { isCallable: true, calls: 2 }, b: { isCallable: true, calls: 1 }, c: { calls: 0 } });
  expect(await picked()).toBe('b');
});

it('takes the one that was heard last when none answers', async () => {
  await setOf({ a: { lastHeardMs: 10 }, b: { lastHeardMs: 30 }, c: { lastHeardMs: 40, isConnected: false } });
  expect(await picked()).toBe('b');
});

it('sends nothing when none is connected', async () => {
  await setOf({ a: { isConnected: false } });
  expect(isRpcUnreachable(await picked().catch((error: unknown) => error))).toBe(true);
});
