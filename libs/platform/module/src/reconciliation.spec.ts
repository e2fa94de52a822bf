import { createSilentLogger } from '@gateway/runtime';
import { createTestClock } from '@gateway/test-support';
import { createReconciliation } from './reconciliation';

const INTERVAL_MS = 60_000;

it('differences are those of the last run of this process, until another process must have run since', async () => {
  const clock = createTestClock();
  let found: string[] | undefined = ['one', 'two'];
  const reconciliation = createReconciliation<string>({
    what: 'test',
    compare: async () => found,
    nameOf: (difference) => difference,
    describe: (difference) => [{ difference }, 'differs'],
    clock,
    log: createSilentLogger(),
    intervalMs: INTERVAL_MS,
  });
  expect(reconciliation.differences()).toBe(0);
  await reconciliation.run();
  expect(reconciliation.differences()).toBe(2);
  found = undefined;
  await reconciliation.run();
  expect(reconciliation.differences()).toBe(2);
  clock.advance(3 * INTERVAL_MS);
  expect(reconciliation.differences()).toBe(0);
});
