import { chunksWithin } from '@gateway/base';
import { createAdaptiveBatcher } from '@gateway/runtime';
import { DeliveryStopped, type Deliver } from '../delivery/deliver';
import type { LoggedEvent } from '../event-log';

/** Events of one partition, in order. */
export interface PartitionBatch {
  readonly events: readonly LoggedEvent[];
  /** Whether the partition is still assigned to this member. */
  readonly isAssigned: () => boolean;
  /** Whether the consumer has sought the partition since: it will be read from another offset. */
  readonly isSought: () => boolean;
}

export interface JointDeliveryPorts {
  readonly deliver: Deliver;
  /** Records that the group has processed everything up to these events, one per partition. */
  readonly commit: (last: readonly LoggedEvent[]) => Promise<void>;
  /** Events per delivery. A partition's batch is never split. */
  readonly maxBatchSize: number;
}

export interface JointDelivery {
  /** Returns false if the batch was skipped because its partition is no longer assigned. */
  submit(batch: PartitionBatch): Promise<boolean>;
  /** Throws DeliveryStopped when a partition of the current delivery is no longer assigned. */
  assertAssigned(): void;
  /** Throws DeliveryStopped when a partition of the current delivery has been sought. */
  assertNotSought(): void;
}

/**
 * Handles concurrent batches of several partitions together: a batch costs about
 * the same for one event as for fifty, and each partition has only a few.
 */
export function createJointDelivery({ deliver, commit, maxBatchSize }: JointDeliveryPorts): JointDelivery {
  let inFlight: readonly PartitionBatch[] = [];

  /** Returns for each batch whether it was delivered. */
  async function deliverTogether(batches: readonly PartitionBatch[]): Promise<boolean[]> {
    const assigned = batches.map(({ isAssigned }) => isAssigned());
    inFlight = batches.filter((_, index) => assigned[index]);
    if (inFlight.length > 0) {
      await deliver(inFlight.flatMap(({ events }) => events));
      await commit(inFlight.flatMap(({ events }) => events.slice(-1)));
    }
    return assigned;
  }

  // Sequential, so that the batches of a partition stay in order.
  const batcher = createAdaptiveBatcher<PartitionBatch, boolean>({
    maxBatchSize: Number.MAX_SAFE_INTEGER,
    maxQueuedItems: Number.MAX_SAFE_INTEGER,
    maxConcurrentBatches: 1,
    overflow: () => new Error('unreachable: the number of partitions is limited'),
    run: async (batches) => {
      const delivered: boolean[] = [];
      const limit = { max: maxBatchSize, measure: ({ events }: PartitionBatch) => events.length };
      for (const together of chunksWithin(batches, limit))
        delivered.push(...(await deliverTogether(together)));
      return delivered;
    },
  });

  return {
    submit: (batch) => batcher.submit(batch),
    assertAssigned() {
      if (!inFlight.every(({ isAssigned }) => isAssigned())) throw new DeliveryStopped();
    },
    assertNotSought() {
      if (inFlight.some(({ isSought }) => isSought())) throw new DeliveryStopped();
    },
  };
}
