import { describeLimitStoreSuite, ManualClock } from '../../testing/limit-store.contract';
import type { Admission } from '../../core';
import { createMemoryLimitStore } from './memory-limit-store';

describeLimitStoreSuite('in memory', async (options) => ({
  store: createMemoryLimitStore(options),
  close: async () => undefined,
}));

const LEASE_MS = 30_000;

function admission(index: number): Admission {
  return {
    admissionId: `gen-${index}`,
    organizationId: `org-${index}`,
    keyId: `key-${index}`,
    tokens: 1,
    keyLimits: {},
    organizationLimits: {},
  };
}

describe('the memory of the limit store', () => {
  it('does not retain idle organizations and keys, nor admissions that never finish', async () => {
    const clock = new ManualClock(0);
    const store = createMemoryLimitStore({ clock, slotLeaseMs: LEASE_MS });
    for (let index = 0; index < 1_000; index += 1) await store.admit([admission(index)]);
    expect(store.size()).toEqual({ counters: 2_000, admissions: 1_000 });
    clock.passToNextMinute();
    for (let index = 0; index < 1_000; index += 1) await store.admit([admission(-1)]);
    expect(store.size()).toEqual({ counters: 2, admissions: 1 });
  });

  it('retains running requests', async () => {
    const clock = new ManualClock(0);
    const store = createMemoryLimitStore({ clock, slotLeaseMs: LEASE_MS });
    const running = { ...admission(1), keyLimits: { concurrency: 1 } };
    await store.admit([running]);
    for (let index = 2; index < 200; index += 1) {
      clock.pass(10_000);
      await store.renewSlots([running]);
      await store.admit([admission(index)]);
    }
    expect(store.size().counters).toBeLessThan(30);
    expect(await store.admit([{ ...running, admissionId: 'gen-other' }])).toMatchObject([
      { kind: 'refused', limitType: 'concurrency' },
    ]);
  });

  it('has a limit, beyond which a call is refused as a whole', async () => {
    const clock = new ManualClock(0);
    const store = createMemoryLimitStore({ clock, slotLeaseMs: LEASE_MS, maxAdmissions: 3 });
    await store.admit([admission(1), admission(2)]);
    await expect(store.admit([admission(3), admission(4)])).rejects.toMatchObject({ code: 'no_capacity' });
    expect(store.size().admissions).toBe(2);
    expect(await store.admit([admission(3)])).toMatchObject([{ kind: 'admitted' }]);
    clock.passToNextMinute();
    expect(await store.admit([admission(4), admission(5)])).toHaveLength(2);
  });

  it('handles a clock that steps back across a minute', async () => {
    const clock = new ManualClock(600_000);
    const store = createMemoryLimitStore({ clock, slotLeaseMs: LEASE_MS });
    const limited = (index: number): Admission => ({
      ...admission(index),
      organizationId: 'org',
      keyId: 'key',
      keyLimits: { requestsPerMinute: 2 },
    });
    await store.admit([limited(1)]);
    clock.pass(-60_000);
    await store.admit([limited(2)]);
    clock.pass(60_000);
    await store.finish([{ ...limited(1), outcome: { kind: 'returned' } }]);
    expect(await store.admit([limited(3), limited(4), limited(5)])).toMatchObject([
      { kind: 'admitted', requests: { remaining: 1 } },
      { kind: 'admitted', requests: { remaining: 0 } },
      { kind: 'refused' },
    ]);
  });
});
