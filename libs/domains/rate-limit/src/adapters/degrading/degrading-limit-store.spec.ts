import type { Admission, Decision, LimitStore } from '../../core';
import { describeLimitStoreSuite, ManualClock } from '../../testing/limit-store.contract';
import { createMemoryLimitStore } from '../memory/memory-limit-store';
import { createDegradingLimitStore } from './degrading-limit-store';

describeLimitStoreSuite('that degrades, while the shared store is available', async (options) => ({
  store: createDegradingLimitStore(
    { shared: createMemoryLimitStore(options), local: createMemoryLimitStore(options), clock: options.clock },
    { replicas: 4 },
  ),
  close: async () => undefined,
}));

describe('a limit store that degrades', () => {
  const clock = new ManualClock(Date.UTC(2026, 0, 1));
  const shared = createMemoryLimitStore({ clock });
  let outage: 'undecided' | 'rejects' | undefined;
  let calls: number;
  let ids = 0;

  const flaky: LimitStore = {
    admit: async (admissions) => {
      calls += 1;
      if (outage === 'rejects') throw new Error('unavailable');
      if (outage === 'undecided') return admissions.map(() => ({ kind: 'undecided' }));
      return shared.admit(admissions);
    },
    finish: async (finished) => {
      if (outage !== undefined) throw new Error('unavailable');
      await shared.finish(finished);
    },
    renewSlots: async (slots) => {
      if (outage !== undefined) throw new Error('unavailable');
      await shared.renewSlots(slots);
    },
  };

  function request(keyLimits: Admission['keyLimits']): Admission {
    ids += 1;
    return {
      admissionId: `gen-${ids}`,
      organizationId: `org-${keyLimits.requestsPerMinute ?? 'any'}`,
      keyId: 'key-1',
      tokens: 1,
      keyLimits,
      organizationLimits: {},
    };
  }

  const open = (replicas: number) =>
    createDegradingLimitStore(
      { shared: flaky, local: createMemoryLimitStore({ clock }), clock },
      { replicas, retryIntervalMs: 1_000 },
    );

  const kindsOf = (decisions: readonly Decision[]) => decisions.map(({ kind }) => kind);

  beforeEach(() => {
    outage = undefined;
    calls = 0;
    clock.passToNextMinute();
  });

  it.each(['undecided', 'rejects'] as const)(
    'admits its share of a limit while the shared store %s, and at least 1',
    async (how) => {
      outage = how;
      const store = open(4);
      const admissions = Array.from({ length: 4 }, () => request({ requestsPerMinute: 12 }));
      expect(kindsOf(await store.admit(admissions))).toEqual(['admitted', 'admitted', 'admitted', 'refused']);
      const few = Array.from({ length: 2 }, () => request({ requestsPerMinute: 3 }));
      expect(kindsOf(await store.admit(few))).toEqual(['admitted', 'refused']);
      expect(kindsOf(await store.admit([request({ requestsPerMinute: 0 })]))).toEqual(['refused']);
    },
  );

  it('pauses calls of a shared store that could not decide, and uses it again when it can', async () => {
    const store = open(2);
    outage = 'rejects';
    for (let count = 0; count < 5; count += 1) await store.admit([request({})]);
    expect(calls).toBe(1);
    outage = undefined;
    clock.pass(1_000);
    const limited = request({ concurrency: 1 });
    expect(kindsOf(await store.admit([limited]))).toEqual(['admitted']);
    expect(kindsOf(await shared.admit([request({ concurrency: 1 })]))).toEqual(['refused']);
    await store.finish([{ ...limited, outcome: { kind: 'returned' } }]);
    expect(kindsOf(await shared.admit([request({ concurrency: 1 })]))).toEqual(['admitted']);
  });

  it('frees and renews locally admitted slots without the shared store', async () => {
    const store = open(1);
    outage = 'rejects';
    const first = request({ concurrency: 1 });
    expect(kindsOf(await store.admit([first, request({ concurrency: 1 })]))).toEqual(['admitted', 'refused']);
    clock.pass(20_000);
    await store.renewSlots([first]);
    clock.pass(20_000);
    expect(kindsOf(await store.admit([request({ concurrency: 1 })]))).toEqual(['refused']);
    await store.finish([{ ...first, outcome: { kind: 'used', tokens: 1 } }]);
    expect(kindsOf(await store.admit([request({ concurrency: 1 })]))).toEqual(['admitted']);
  });

  it('rejects when a finish does not reach the shared store that decided', async () => {
    const store = open(1);
    const first = request({});
    await store.admit([first]);
    outage = 'rejects';
    await expect(store.finish([{ ...first, outcome: { kind: 'returned' } }])).rejects.toThrow('unavailable');
  });
});
