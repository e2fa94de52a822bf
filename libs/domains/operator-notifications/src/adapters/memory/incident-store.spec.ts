import { createTestClock } from '@gateway/test-support';
import { CONTRACT_TIMING, describeIncidentStore } from '../../testing/incident-store.contract';
import { createMemoryIncidentStore } from './incident-store';

let ids = 0;
const open = () =>
  createMemoryIncidentStore({
    clock: createTestClock(),
    timing: CONTRACT_TIMING,
    newId: () => `ntf-${(ids += 1)}`,
  });

describeIncidentStore('memory', async () => open());

it('returns sent notifications once, for the history', async () => {
  const store = open();
  await store.report([{ cause: 'database_unavailable', subject: 'auth', details: 'd' }]);
  await store.decide(['ops@example.com'], 0 as never);
  expect(store.takeFinished()).toEqual([]);
  const [delivery] = await store.claimDue(1);
  await store.recordDelivery(delivery as never, undefined);
  expect(store.takeFinished()).toMatchObject([
    { kind: 'opened', deliveries: [{ recipient: 'ops@example.com', failure: undefined }] },
  ]);
  expect(store.takeFinished()).toEqual([]);
});
