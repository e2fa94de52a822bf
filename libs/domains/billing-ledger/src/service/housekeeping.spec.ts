import type { UnixMs } from '@gateway/base';
import { createMetrics, createSilentLogger } from '@gateway/runtime';
import { createTestClock, eventually } from '@gateway/test-support';
import type { ClaimStore, LedgerHealth, LedgerHistory, LedgerStore } from '../core/ports';
import { createHousekeeping } from './housekeeping';
import { createLedgerMetrics } from './metrics';

/** The house of a ledger in this state, of which it may not be possible to void holds. */
function keepHouse(voidOverdueHolds: () => Promise<number>, initial: LedgerHealth) {
  const registry = createMetrics({ processMetrics: false });
  let health = initial;
  const housekeeping = createHousekeeping({
    store: { voidOverdueHolds, readHealth: async () => health } as Partial<LedgerStore> as LedgerStore,
    claims: { trimClaims: async () => 0 } as Partial<ClaimStore> as ClaimStore,
    history: { prepare: async () => undefined, forget: async () => 0 } as LedgerHistory,
    clock,
    log: createSilentLogger(),
    metrics: createLedgerMetrics(registry),
    intervalMs: 1,
  });
  const told = async () =>
    Object.fromEntries(
      [...(await registry.metrics()).matchAll(/^gateway_billing_ledger_(\w+_holds|oldest_\w+) (\S+)$/gm)].map(
        ([, name = '', value]) => [name, Number(value)],
      ),
    );
  return {
    housekeeping,
    become: (next: LedgerHealth) => (health = next),
    until: (openHolds: number) =>
      eventually('the holds to be counted', async () => {
        const gauges = await told();
        return gauges['open_holds'] === openHolds ? gauges : undefined;
      }),
  };
}

const clock = createTestClock();
const UNWELL: LedgerHealth = {
  openHolds: 7n,
  heldNanoUsd: 1n,
  oldestHold: (clock.now() - 2_500) as UnixMs,
  overdueHolds: 3n,
};

it('tells how many holds are open and overdue, and how old the oldest is', async () => {
  const { housekeeping, until, become } = keepHouse(async () => 0, UNWELL);
  await housekeeping.start();
  try {
    expect(await until(7)).toEqual({ open_holds: 7, overdue_holds: 3, oldest_hold_age_seconds: 2.5 });
    become({ openHolds: 0n, heldNanoUsd: 0n, oldestHold: undefined, overdueHolds: 0n });
    expect(await until(0)).toEqual({ open_holds: 0, overdue_holds: 0, oldest_hold_age_seconds: 0 });
  } finally {
    await housekeeping.stop();
  }
});

it('tells how many are overdue while they cannot be voided', async () => {
  const { housekeeping, until } = keepHouse(
    () => Promise.reject(new Error('the accounts are locked')),
    UNWELL,
  );
  await housekeeping.start();
  try {
    expect(await until(7)).toMatchObject({ overdue_holds: 3 });
  } finally {
    await housekeeping.stop();
  }
});
