import type { ConsumerProgress } from '@gateway/base';
import type { DatabaseLog } from '@gateway/database';
import type { ClientBase, Pool } from 'pg';
import { DeliveryStopped } from '../delivery/deliver';
import type { EventLogInstruments } from '../delivery/instruments';
import type { LoggedEvent, TopicGroup } from '../event-log';
import {
  advanceConsumerOffsets,
  readConsumerOffsets,
  replaceConsumerOffsets,
  type PartitionAdvance,
} from '../postgres/consumer-offsets';
import { afterPosition } from './positions';
import { startOffsetOf, type PartitionOffsets, type StartOffset } from './start-offset';

export interface StoredOffsetsPorts {
  /** The database of the handlers' effects. */
  readonly pool: Pool;
  /** The offsets that the group has committed in Kafka, by partition. */
  readonly readCommitted: () => Promise<ReadonlyMap<number, bigint>>;
  readonly readRanges: () => Promise<ReadonlyMap<number, Pick<PartitionOffsets, 'first' | 'end'>>>;
  /** The next fetch of the partition starts at this offset; fetched batches become stale. */
  readonly seek: (partition: number, offset: bigint) => void;
  readonly instruments: EventLogInstruments;
  readonly log: DatabaseLog;
}

/**
 * The offsets of one consumer, stored in the database of its effects. A database that loses
 * its latest transactions, in a failover or a restore, loses the offsets with them: the
 * consumer then reads the lost events again.
 */
export interface StoredOffsets {
  /** Seeks each of these partitions to where it must be read. Call this at each assignment. */
  assign(partitions: readonly number[]): Promise<void>;
  /** Seeks the assigned partitions again. */
  realign(): Promise<void>;
  /** Resolves when the partitions have been sought. */
  readonly aligned: Promise<void>;
  /** How often they have been. */
  readonly seeks: number;
  /** Realigns if the database has lost offsets: without new events, no batch would notice it. */
  check(): Promise<void>;
  /**
   * Whether a batch starts elsewhere than the previous one ended, and must be skipped: the topic was
   * created again, or kafkajs delivers what it fetched before a seek. Delivering it would store an offset
   * beyond events that were never handled.
   */
  isOutOfPlace(partition: number, firstOffset: bigint): boolean;
  /** For the handler of these events. */
  progressOf(events: readonly LoggedEvent[]): ConsumerProgress;
  /** Stores the progress that no handler has stored. */
  store(events: readonly LoggedEvent[]): Promise<void>;
}

interface AssignedPartition {
  /** Known to be stored. */
  stored: bigint;
  /** The offset after the last delivered event. */
  next: bigint;
}

const GAP_ATTEMPTS = 3;

export function createStoredOffsets(group: TopicGroup, ports: StoredOffsetsPorts): StoredOffsets {
  const { pool, instruments, log } = ports;
  const labels = { topic: group.topic, group: group.group };
  const replayed = instruments.replayed.labels(labels);
  const expired = instruments.expired.labels(labels);
  let assignment: readonly number[] = [];
  let assigned = new Map<number, AssignedPartition>();
  const gaps = new Map<number, { readonly firstOffset: bigint; readonly times: number }>();
  let aligned = Promise.resolve();
  let seeks = 0;

  async function align(partitions: readonly number[]): Promise<void> {
    if (partitions.length === 0) return void assigned.clear();
    // In this order: another member moves the stored offset before the committed one, and events are added all the time.
    const committed = await ports.readCommitted();
    const stored = await readConsumerOffsets(pool, group);
    const ranges = await ports.readRanges();
    const starts = new Map<number, StartOffset>();
    for (const partition of partitions) {
      const range = ranges.get(partition);
      if (range === undefined)
        throw new Error(`Kafka does not know partition ${partition} of ${group.topic}`);
      const start = { committed: committed.get(partition), stored: stored.get(partition), ...range };
      starts.set(partition, startOffsetOf(start));
    }
    const replaced = [...starts].filter(([partition, start]) => stored.get(partition) !== start.stored);
    if (replaced.length > 0) {
      await replaceConsumerOffsets(pool, group, new Map(replaced.map(([key, start]) => [key, start.stored])));
    }
    assigned = new Map(
      [...starts].map(([key, start]) => [key, { stored: start.stored, next: start.offset }]),
    );
    seeks += 1;
    for (const [partition, start] of starts) {
      ports.seek(partition, start.offset);
      report(partition, start);
    }
  }

  function report(partition: number, start: StartOffset): void {
    const fields = { ...labels, partition, offset: String(start.offset) };
    replayed.inc(Number(start.replayed));
    expired.inc(Number(start.expired));
    if (start.replayed > 0n) {
      log.warn(
        { ...fields, events: String(start.replayed) },
        'the database lost the effects of events; reading them again',
      );
    }
    if (start.expired > 0n) {
      log.error(
        { ...fields, events: String(start.expired) },
        'the database needs events that Kafka has deleted',
      );
    }
  }

  function advancesOf(events: readonly LoggedEvent[]): PartitionAdvance[] {
    const ends = new Map<number, bigint>();
    for (const { position } of events) {
      const { partition, offset } = afterPosition(position);
      ends.set(partition, BigInt(offset));
    }
    return [...ends].map(([partition, nextOffset]) => {
      const known = assigned.get(partition);
      if (known === undefined) throw new DeliveryStopped();
      return { partition, knownOffset: known.stored, nextOffset };
    });
  }

  function stored(advances: readonly PartitionAdvance[]): void {
    for (const { partition, nextOffset } of advances) {
      const known = assigned.get(partition);
      if (known !== undefined && known.stored < nextOffset) known.stored = nextOffset;
    }
  }

  function realign(): Promise<void> {
    aligned = aligned.catch(() => undefined).then(() => align(assignment));
    aligned.catch(() => undefined);
    return aligned;
  }

  return {
    assign(partitions) {
      assignment = partitions;
      return realign();
    },
    realign,
    get aligned() {
      return aligned;
    },
    get seeks() {
      return seeks;
    },
    async check() {
      await aligned;
      const before = new Map([...assigned].map(([partition, known]) => [partition, known.stored]));
      const found = await readConsumerOffsets(pool, group);
      const isBehind = [...before].some(([partition, offset]) => (found.get(partition) ?? -1n) < offset);
      if (isBehind) await realign();
    },
    isOutOfPlace(partition, firstOffset) {
      const known = assigned.get(partition);
      if (known === undefined || firstOffset === known.next) {
        gaps.delete(partition);
        return false;
      }
      const gap = gaps.get(partition);
      const times = gap?.firstOffset === firstOffset ? gap.times + 1 : 1;
      gaps.set(partition, { firstOffset, times });
      // Kafka has no events in between when it returns the same offset each time.
      return times <= GAP_ATTEMPTS;
    },
    progressOf(events) {
      const advances = advancesOf(events);
      return {
        write: (transaction) => advanceConsumerOffsets(transaction as ClientBase, group, advances),
        committed: () => stored(advances),
      };
    },
    async store(events) {
      const advances = advancesOf(events);
      for (const { partition, nextOffset } of advances) {
        const known = assigned.get(partition);
        if (known !== undefined && known.next < nextOffset) known.next = nextOffset;
      }
      const missing = advances.filter(({ knownOffset, nextOffset }) => knownOffset < nextOffset);
      if (missing.length === 0) return;
      await advanceConsumerOffsets(pool, group, missing);
      stored(missing);
    },
  };
}
