import { DeliveryStopped } from '../delivery/deliver';
import type { LoggedEvent } from '../event-log';
import { createJointDelivery, type Part } from './joint-delivery';
import { positionOf } from './positions';

const eventsOf = (partition: number, count: number): LoggedEvent[] =>
  Array.from({ length: count }, (_, offset) => ({
    topic: 'topic',
    position: positionOf(partition, String(offset)),
    key: `key-${partition}`,
    payload: Buffer.alloc(0),
    headers: {},
  }));

const partOf = (partition: number, count: number, isOurs = () => true): Part => ({
  events: eventsOf(partition, count),
  isOurs,
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

  it('hands over together what several partitions bring at the same time, and commits each', async () => {
    const { joint, deliveries, commits } = start();
    await Promise.all([partOf(1, 2), partOf(2, 1)].map((part) => joint.submit(part)));
    expect(deliveries).toEqual([['key-1', 'key-1', 'key-2']]);
    expect(commits).toEqual([['key-1', 'key-2']]);
  });

  it('hands over no more than asked for', async () => {
    const { joint, deliveries } = start(3);
    await Promise.all([partOf(1, 2), partOf(2, 2), partOf(3, 1)].map((part) => joint.submit(part)));
    expect(deliveries).toEqual([
      ['key-1', 'key-1'],
      ['key-2', 'key-2', 'key-3'],
    ]);
  });

  it('leaves alone what is no longer ours, and neither delivers nor commits it', async () => {
    const { joint, deliveries, commits } = start();
    const parts = [partOf(1, 1, () => false), partOf(2, 1)];
    expect(await Promise.all(parts.map((part) => joint.submit(part)))).toEqual([false, true]);
    expect(deliveries).toEqual([['key-2']]);
    expect(commits).toEqual([['key-2']]);
  });

  it('stops when a partition is taken away in the middle', async () => {
    let isOurs = true;
    const { joint, commits } = start(100, () => {
      isOurs = false;
      joint.assertOurs();
    });
    const submissions = [partOf(1, 1, () => isOurs), partOf(2, 1)].map((part) => joint.submit(part));
    const results = await Promise.allSettled(submissions);
    for (const result of results) {
      expect(result).toMatchObject({ status: 'rejected', reason: expect.any(DeliveryStopped) as Error });
    }
    expect(commits).toEqual([]);
  });

  it('has one delivery under way at a time, so that the parts of a partition stay in order', async () => {
    let open = 0;
    let most = 0;
    const { joint } = start(1, async () => {
      most = Math.max(most, (open += 1));
      await new Promise(setImmediate);
      open -= 1;
    });
    await Promise.all([1, 2, 3].map((partition) => joint.submit(partOf(partition, 1))));
    expect(most).toBe(1);
  });
});
