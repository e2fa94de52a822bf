import { AdmissionQueue, type AdmissionQueueOptions } from './admission-queue';

const LARGE = {
  maxPerTurn: 2,
  usualTurnMs: 40,
  maxPerLongTurn: 6,
  maxWaitMs: 1_000,
  maxQueued: 100,
  maxQueuedPerOwner: 100,
};

/** A queue whose turns the test starts, with the names of the granted and rejected requests. */
function createQueue(options: Partial<AdmissionQueueOptions> = {}) {
  const turns: (() => void)[] = [];
  const granted: string[] = [];
  const rejected: string[] = [];
  const cancelled = new Set<string>();
  let nowMs = 0;
  const queue = new AdmissionQueue(
    { now: () => nowMs, inNextTurn: (callback) => void turns.push(callback) },
    { ...LARGE, ...options },
  );
  return {
    queue,
    granted,
    rejected,
    cancelled,
    pass: (ms: number) => (nowMs += ms),
    acquire(...names: string[]) {
      for (const name of names) {
        const admission = queue.tryAcquire(name.charAt(0), () => cancelled.has(name));
        if (admission.kind === 'granted') granted.push(name);
        else if (admission.kind === 'rejected') rejected.push(name);
        else void admission.granted.then((isGranted) => (isGranted ? granted : rejected).push(name));
      }
    },
    /** @returns whether a turn was scheduled. */
    async turn(): Promise<boolean> {
      const scheduled = turns.splice(0);
      for (const callback of scheduled) callback();
      await Promise.resolve();
      return scheduled.length > 0;
    },
  };
}

it('grants requests immediately up to the limit of a turn, and the rest in later turns', async () => {
  const { acquire, turn, granted, queue } = createQueue();
  acquire('a1', 'a2', 'a3', 'a4', 'a5');
  expect([granted, queue.queuedCount]).toEqual([['a1', 'a2'], 3]);
  await turn();
  expect(granted).toEqual(['a1', 'a2', 'a3', 'a4']);
  await turn();
  expect(granted).toEqual(['a1', 'a2', 'a3', 'a4', 'a5']);
  expect(queue.queuedCount).toBe(0);
});

it('schedules no turn while idle, and then grants immediately again', async () => {
  const { acquire, turn, granted } = createQueue();
  acquire('a1');
  expect(await turn()).toBe(true);
  expect(await turn()).toBe(false);
  acquire('a2', 'a3');
  expect(granted).toEqual(['a1', 'a2', 'a3']);
});

it('does not let a later request overtake a queued one', async () => {
  const { acquire, turn, granted } = createQueue({ maxPerTurn: 1 });
  acquire('a1', 'a2', 'a3');
  await turn();
  acquire('a4');
  expect(granted).toEqual(['a1', 'a2']);
  while (await turn());
  expect(granted).toEqual(['a1', 'a2', 'a3', 'a4']);
});

it('alternates between owners, so that none waits behind the whole backlog of another', async () => {
  const { acquire, turn, granted } = createQueue();
  acquire('a1', 'a2', 'a3', 'a4', 'a5', 'b1', 'c1');
  await turn();
  await turn();
  expect(granted).toEqual(['a1', 'a2', 'a3', 'b1', 'c1', 'a4']);
});

it('rejects new requests of an owner whose oldest has waited too long, and of no other owner', async () => {
  const { acquire, turn, pass, granted, rejected } = createQueue({ maxPerTurn: 1, maxPerLongTurn: 1 });
  acquire('a1', 'a2', 'b1');
  pass(1_001);
  acquire('a3', 'b2', 'c1');
  expect(rejected).toEqual(['a3', 'b2']);
  await turn();
  expect(granted).toEqual(['a1', 'a2']);
  acquire('a4');
  expect(rejected).toEqual(['a3', 'b2']);
});

it('rejects new requests when the queue is full, per owner or in total', () => {
  const { acquire, rejected } = createQueue({ maxPerTurn: 1, maxQueued: 3, maxQueuedPerOwner: 2 });
  acquire('a1', 'a2', 'a3', 'a4', 'b1', 'b2');
  expect(rejected).toEqual(['a4', 'b2']);
});

it('grants more after a long turn, so that rejections do not use up the time of grants', async () => {
  const { acquire, turn, pass, granted } = createQueue();
  const names = Array.from({ length: 40 }, (_, index) => `a${index}`);
  acquire(...names);
  const grantedIn = async (ms: number) => {
    const before = granted.length;
    pass(ms);
    await turn();
    return granted.length - before;
  };
  expect(await grantedIn(79)).toBe(2);
  expect(await grantedIn(80)).toBe(4);
  expect(await grantedIn(10_000)).toBe(6);
  expect(await grantedIn(0)).toBe(2);
});

it('does not use up a grant for a cancelled request', async () => {
  const { acquire, turn, cancelled, granted } = createQueue({ maxPerTurn: 1 });
  acquire('a1', 'a2', 'a3', 'a4', 'a5');
  for (const name of ['a2', 'a3']) cancelled.add(name);
  await turn();
  expect(granted).toEqual(['a1', 'a2', 'a3', 'a4']);
});
