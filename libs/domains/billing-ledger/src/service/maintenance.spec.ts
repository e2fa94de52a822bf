import type { UnixMs } from '@gateway/base';
import { createMetrics, createSilentLogger } from '@gateway/runtime';
import { createTestClock, eventually } from '@gateway/test-support';
import type { ClaimStore, LedgerHealth, LedgerHistory, LedgerStore } from '../core/ports';
import { createLedgerMaintenance } from './maintenance';
import { createLedgerMetrics } from './metrics';

/** Maintenance of a ledger in this state. */
function setUp(voidOverdueHolds: () => Promise<number>, initial: LedgerHealth) {
  const registry = createMetrics({ processMetrics: false });
  let health = initial;
  const maintenance = createLedgerMaintenance({
    store: { voidOverdueHolds, readHealth: async () => health } as Partial<LedgerStore> as LedgerStore,
    claims: { deleteExpiredClaims: async () => 0 } as Partial<ClaimStore> as ClaimStore,
    history: { prepare: async () => undefined, dropExpired: async () => 0 } as LedgerHistory,
    clock,
    log: createSilentLogger(),
    metrics: createLedgerMetrics(registry),
    intervalMs: 1,
  });
  const readGauges = async () =>
    Object.fromEntries(
      [...(await registry.metrics()).matchAll(/^gateway_billing_ledger_(\w+_holds|oldest_\w+) (\S+)$/gm)].map(
        ([, name = '', value]) => [name, Number(value)],
      ),
    );
  return {
    maintenance,
    become: (next: LedgerHealth) => (health = next),
    until: (openHolds: number) =>
      eventually('the holds to be counted', async () => {
        const gauges = await readGauges();
        return gauges['open_holds'] === openHolds ? gauges : undefined;
      }),
  };
}

const clock = createTestClock();
const OVERDUE: LedgerHealth = {
  openHolds: 7n,
  heldNanoUsd: 1n,
  oldestHold: (clock.now() - 2_500) as UnixMs,
  overdueHolds: 3n,
};

it('exposes the number of open and overdue holds, and the age of the oldest', async () => {
  const { maintenance, until, become } = setUp(async () => 0, OVERDUE);
  await maintenance.start();
  try {
    expect(await until(7)).toEqual({ open_holds: 7, overdue_holds: 3, oldest_hold_age_seconds: 2.5 });
    become({ openHolds: 0n, heldNanoUsd: 0n, oldestHold: undefined, overdueHolds: 0n });
    expect(await until(0)).toEqual({ open_holds: 0, overdue_holds: 0, oldest_hold_age_seconds: 0 });
  } finally {
    await maintenance.stop();
  }
});

it('exposes the number of overdue holds while voiding fails', async () => {
  const { maintenance, until } = setUp(() => Promise.reject(new Error('the accounts are locked')), OVERDUE);
  await maintenance.start();
  try {
    expect(await until(7)).toMatchObject({ overdue_holds: 3 });
  } finally {
    await maintenance.stop();
  }
});
