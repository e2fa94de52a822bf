import { createMetrics, createSilentLogger } from '@gateway/runtime';
import { createTestClock } from '@gateway/test-support';
import { createUsageAggregatorMetrics } from './metrics';
import { createReconciliation } from './reconciliation';

const INTERVAL_MS = 60_000;
const SUMS = { generations: 1n, costNanoUsd: 1n, chargedNanoUsd: 1n };

it('differences are those of the last run of this process, until another process must have run since', async () => {
  const clock = createTestClock();
  let found: unknown = {
    hours: 1,
    comparedUntilUnixMs: 0,
    differences: [
      {
        organizationId: 'org-1',
        kind: 'settlements',
        startsUnixMs: 0,
        fromUnixMs: 0,
        expected: SUMS,
        found: SUMS,
      },
    ],
  };
  const reconciliation = createReconciliation({
    reconciler: { reconcile: async () => found, announceWindows: async () => 0 } as never,
    clock,
    log: createSilentLogger(),
    metrics: createUsageAggregatorMetrics(createMetrics({ processMetrics: false })),
    intervalMs: INTERVAL_MS,
  });
  expect(reconciliation.differences()).toBe(0);
  await reconciliation.run();
  expect(reconciliation.differences()).toBe(1);
  found = undefined;
  await reconciliation.run();
  expect(reconciliation.differences()).toBe(1);
  clock.advance(3 * INTERVAL_MS);
  expect(reconciliation.differences()).toBe(0);
});
