import { DeliveryStopped } from '../delivery/deliver';
import type { LoggedEvent } from '../event-log';
import { createJointDelivery, type PartitionBatch } from './joint-delivery';
import { positionOf } from './positions';

const eventsOf = (partition: number, count: number): LoggedEvent[] =>
  Array.from({ length: count }, (_, offset) => ({
    topic: 'topic',
    position: positionOf(partition, String(offset)),
    key: `key-${partition}`,
    payload: Buffer.alloc(0),
    headers: {},
  }));

const batchOf = (partition: number, count: number, isAssigned = () => true): PartitionBatch => ({
  events: eventsOf(partition, count),
  isAssigned,
  isSought: () => false,
});

describe('a joint delivery', () => {
  function start(maxBatchSize = 100, onDeliver: () => void | Promise<void> = () => undefined) {
    const deliveries: string[][] = [];
    const commits: string[][] = [];
    const keys = (events: readonly LoggedEvent[]) => events.map(({ key }) => key);
    const joint = createJointDelivery({
      deliver: async (events) => {
        deliveries.push(keys(events));
        await onDeliver();
      },
      commit: async (last) => void commits.push(keys(last)),
      maxBatchSize,
    });
    return { joint, deliveries, commits };
  }

  it('delivers concurrent batches of several partitions together, and commits each', async () => {
    const { joint, deliveries, commits } = start();
    await Promise.all([batchOf(1, 2), batchOf(2, 1)].map((batch) => joint.submit(batch)));
    expect(deliveries).toEqual([['key-1', 'key-1', 'key-2']]);
    expect(commits).toEqual([['key-1', 'key-2']]);
  });

  it('delivers at most the batch size', async () => {
    const { joint, deliveries } = start(3);
    await Promise.all([batchOf(1, 2), batchOf(2, 2), batchOf(3, 1)].map((batch) => joint.submit(batch)));
    expect(deliveries).toEqual([
      ['key-1', 'key-1'],
      ['key-2', 'key-2', 'key-3'],
    ]);
  });

  it('neither delivers nor commits a partition that is no longer assigned', async () => {
    const { joint, deliveries, commits } = start();
    const batches = [batchOf(1, 1, () => false), batchOf(2, 1)];
    expect(await Promise.all(batches.map((batch) => joint.submit(batch)))).toEqual([false, true]);
    expect(deliveries).toEqual([['key-2']]);
    expect(commits).toEqual([['key-2']]);
  });

  it('stops when a partition is revoked during a delivery', async () => {
    let isAssigned = true;
    const { joint, commits } = start(100, () => {
      isAssigned = false;
      joint.assertAssigned();
    });
    const submissions = [batchOf(1, 1, () => isAssigned), batchOf(2, 1)].map((batch) => joint.submit(batch));
    const results = await Promise.allSettled(submissions);
    for (const result of results) {
      expect(result).toMatchObject({ status: 'rejected', reason: expect.any(DeliveryStopped) as Error });
    }
    expect(commits).toEqual([]);
  });

  it('delivers sequentially, so that the batches of a partition stay in order', async () => {
    let open = 0;
    let most = 0;
    const { joint } = start(1, async () => {
      most = Math.max(most, (open += 1));
      await new Promise(setImmediate);
      open -= 1;
    });
    await Promise.all([1, 2, 3].map((partition) => joint.submit(batchOf(partition, 1))));
    expect(most).toBe(1);
  });
});
