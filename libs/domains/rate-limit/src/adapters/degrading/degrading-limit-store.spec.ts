import type { Admission, Decision, LimitStore } from '../../core';
import { describeLimitStoreSuite, ManualClock } from '../../testing/limit-store.contract';
import { createMemoryLimitStore } from '../memory/memory-limit-store';
import { createDegradingLimitStore } from './degrading-limit-store';

describeLimitStoreSuite('that degrades, while the shared store answers', async (options) => ({
  store: createDegradingLimitStore(
    { shared: createMemoryLimitStore(options), own: createMemoryLimitStore(options), clock: options.clock },
    { replicas: 4 },
  ),
  close: async () => undefined,
}));

describe('a limit store that degrades', () => {
  const clock = new ManualClock(Date.UTC(2026, 0, 1));
  const shared = createMemoryLimitStore({ clock });
  let away: 'undecided' | 'rejects' | undefined;
  let asked: number;
  let ids = 0;

  const flaky: LimitStore = {
    admit: async (admissions) => {
      asked += 1;
      if (away === 'rejects') throw new Error('away');
      if (away === 'undecided') return admissions.map(() => ({ kind: 'undecided' }));
      return shared.admit(admissions);
    },
    finish: async (finished) => {
      if (away !== undefined) throw new Error('away');
      await shared.finish(finished);
    },
    renewSlots: async (slots) => {
      if (away !== undefined) throw new Error('away');
      await shared.renewSlots(slots);
    },
  };

  function ask(keyLimits: Admission['keyLimits']): Admission {
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
      { shared: flaky, own: createMemoryLimitStore({ clock }), clock },
      { replicas, askAgainAfterMs: 1_000 },
    );

  const kindsOf = (decisions: readonly Decision[]) => decisions.map(({ kind }) => kind);

  beforeEach(() => {
    away = undefined;
    asked = 0;
    clock.passToNextMinute();
  });

  it.each(['undecided', 'rejects'] as const)(
    'admits its share of a limit while the shared store %s, and one of a limit smaller than the replicas',
    async (how) => {
      away = how;
      const store = open(4);
      const admissions = Array.from({ length: 4 }, () => ask({ requestsPerMinute: 12 }));
      expect(kindsOf(await store.admit(admissions))).toEqual(['admitted', 'admitted', 'admitted', 'refused']);
      const few = Array.from({ length: 2 }, () => ask({ requestsPerMinute: 3 }));
      expect(kindsOf(await store.admit(few))).toEqual(['admitted', 'refused']);
      expect(kindsOf(await store.admit([ask({ requestsPerMinute: 0 })]))).toEqual(['refused']);
    },
  );

  it('does not ask a shared store again that just could not decide, and uses it again once it can', async () => {
    const store = open(2);
    away = 'rejects';
    for (let count = 0; count < 5; count += 1) await store.admit([ask({})]);
    expect(asked).toBe(1);
    away = undefined;
    clock.pass(1_000);
    const limited = ask({ concurrency: 1 });
    expect(kindsOf(await store.admit([limited]))).toEqual(['admitted']);
    expect(kindsOf(await shared.admit([ask({ concurrency: 1 })]))).toEqual(['refused']);
    await store.finish([{ ...limited, outcome: { kind: 'returned' } }]);
    expect(kindsOf(await shared.admit([ask({ concurrency: 1 })]))).toEqual(['admitted']);
  });

  it('frees and renews the slots that it gave itself, without the shared store', async () => {
    const store = open(1);
    away = 'rejects';
    const first = ask({ concurrency: 1 });
    expect(kindsOf(await store.admit([first, ask({ concurrency: 1 })]))).toEqual(['admitted', 'refused']);
    clock.pass(20_000);
    await store.renewSlots([first]);
    clock.pass(20_000);
    expect(kindsOf(await store.admit([ask({ concurrency: 1 })]))).toEqual(['refused']);
    await store.finish([{ ...first, outcome: { kind: 'used', tokens: 1 } }]);
    expect(kindsOf(await store.admit([ask({ concurrency: 1 })]))).toEqual(['admitted']);
  });

  it('says that a finish did not arrive at the shared store that had decided', async () => {
    const store = open(1);
    const first = ask({});
    await store.admit([first]);
    away = 'rejects';
    await expect(store.finish([{ ...first, outcome: { kind: 'returned' } }])).rejects.toThrow('away');
  });
});
