import { chunksWithin } from '@gateway/base';
import { createAdaptiveBatcher } from '@gateway/runtime';
import { DeliveryStopped, type Deliver } from '../delivery/deliver';
import type { LoggedEvent } from '../event-log';

/** Events of one partition, in order. */
export interface Part {
  readonly events: readonly LoggedEvent[];
  /** Whether the partition is still this member's. */
  readonly isOurs: () => boolean;
}

export interface JointDeliveryPorts {
  readonly deliver: Deliver;
  /** The group is done with everything up to and with these events, each the last of a part. */
  readonly commit: (last: readonly LoggedEvent[]) => Promise<void>;
  /** Of one delivery, in events; a part is never divided. */
  readonly maxBatchSize: number;
}

export interface JointDelivery {
  /** Whether it was delivered and committed, rather than left alone since it is no longer ours. */
  submit(part: Part): Promise<boolean>;
  /** Throws DeliveryStopped when some of what is being delivered is no longer ours. */
  assertOurs(): void;
}

/**
 * What partitions bring at the same time is handled together: a batch costs a
 * handler much the same for one event as for fifty, and with many keys each
 * partition has but a few.
 */
export function createJointDelivery({ deliver, commit, maxBatchSize }: JointDeliveryPorts): JointDelivery {
  let underWay: readonly Part[] = [];

  /** Whether each of them was delivered. */
  async function deliverTogether(parts: readonly Part[]): Promise<boolean[]> {
    const ours = parts.map(({ isOurs }) => isOurs());
    underWay = parts.filter((_, index) => ours[index]);
    if (underWay.length > 0) {
      await deliver(underWay.flatMap(({ events }) => events));
      await commit(underWay.flatMap(({ events }) => events.slice(-1)));
    }
    return ours;
  }

  // One at a time: the next part of a partition comes after this one.
  const batcher = createAdaptiveBatcher<Part, boolean>({
    maxBatchSize: Number.MAX_SAFE_INTEGER,
    maxQueuedItems: Number.MAX_SAFE_INTEGER,
    maxConcurrentBatches: 1,
    overflow: () => new Error('unreachable: there are only so many partitions'),
    run: async (parts) => {
      const delivered: boolean[] = [];
      const limit = { max: maxBatchSize, measure: ({ events }: Part) => events.length };
      for (const together of chunksWithin(parts, limit)) delivered.push(...(await deliverTogether(together)));
      return delivered;
    },
  });

  return {
    submit: (part) => batcher.submit(part),
    assertOurs() {
      if (!underWay.every(({ isOurs }) => isOurs())) throw new DeliveryStopped();
    },
  };
}
