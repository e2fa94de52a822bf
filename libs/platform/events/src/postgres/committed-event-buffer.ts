import type { EventLogLimits } from '../delivery/limits';
import type { LoggedEvent, TopicGroup } from '../event-log';

/**
 * Events that this process has just committed, for its own consumers that lead
 * their group. They read the database only for events of other processes and for
 * evicted ones, and need no notification. The buffer is an optimization: every
 * event is in the database as well.
 */
export interface CommittedEventBuffer {
  /** Groups of the topic whose leader is in this process. */
  groupsOf(topic: string): readonly string[];
  /** Adds committed events, in order of position, and wakes the consumers of their topic. */
  add(topic: string, events: readonly LoggedEvent[]): void;
  /** For the leader of a group, until it is closed. */
  open(consumer: TopicGroup, wake: () => void): GroupBuffer;
}

/** The next events of a group; at least one, however large, unless there are none. */
export interface NextEvents {
  readonly events: readonly LoggedEvent[];
  /** Whether no more follow. */
  readonly isLast: boolean;
}

/** The buffered events of one group. */
export interface GroupBuffer {
  /** Removes and returns the events that directly follow this position. */
  take(after: bigint, maxEvents: number, maxBytes: number): NextEvents;
  /** Stays empty afterwards. Safe to call twice. */
  close(): void;
}

/** Approximate memory of an event in addition to its payload. */
const OVERHEAD_BYTES = 500;

interface Consumer extends TopicGroup {
  readonly wake: () => void;
  readonly put: (events: readonly LoggedEvent[]) => void;
}

export function createCommittedEventBuffer({
  maxBufferedBytes,
}: Pick<EventLogLimits, 'maxBufferedBytes'>): CommittedEventBuffer {
  const consumers = new Set<Consumer>();
  const consumersOf = (topic: string) => [...consumers].filter((consumer) => consumer.topic === topic);
  return {
    groupsOf: (topic) => consumersOf(topic).map(({ group }) => group),
    add(topic, events) {
      for (const { put, wake } of consumersOf(topic)) {
        put(events);
        wake();
      }
    },
    open({ topic, group }, wake) {
      const buffer = createGroupBuffer(maxBufferedBytes);
      const consumer: Consumer = { topic, group, wake, put: buffer.put };
      consumers.add(consumer);
      return {
        take: buffer.take,
        close() {
          consumers.delete(consumer);
          buffer.clear();
        },
      };
    },
  };
}

/** Writes of a topic by their first position: they may be added in another order than they were committed in. */
function createGroupBuffer(
  maxBytes: number,
): Pick<GroupBuffer, 'take'> & Pick<Consumer, 'put'> & { clear(): void } {
  const writes = new Map<bigint, readonly LoggedEvent[]>();
  let bytes = 0;

  function put(events: readonly LoggedEvent[]): void {
    const [first] = events;
    if (first === undefined) return;
    // A consumer that is this far behind needs the oldest events, which would be evicted first.
    if (bytes > maxBytes) clear();
    writes.set(first.position, events);
    bytes += sizeOf(events);
  }

  function clear(): void {
    writes.clear();
    bytes = 0;
  }

  function remove(firstPosition: bigint, events: readonly LoggedEvent[]): void {
    writes.delete(firstPosition);
    bytes -= sizeOf(events);
  }

  function take(after: bigint, maxEvents: number, maxTakenBytes: number): NextEvents {
    const taken: LoggedEvent[] = [];
    let takenBytes = 0;
    let next = after + 1n;
    for (let write = writes.get(next); write !== undefined; write = writes.get(next)) {
      remove(next, write);
      for (const [index, event] of write.entries()) {
        if (taken.length > 0 && (taken.length >= maxEvents || takenBytes >= maxTakenBytes)) {
          put(write.slice(index));
          return { events: taken, isLast: false };
        }
        taken.push(event);
        takenBytes += event.payload.length;
        next = event.position + 1n;
      }
    }
    if (taken.length === 0) evictBefore(after);
    return { events: taken, isLast: true };
  }

  /** Events that were read from the database meanwhile. */
  function evictBefore(position: bigint): void {
    for (const [first, events] of writes) if (first <= position) remove(first, events);
  }

  return { put, take, clear };
}

function sizeOf(events: readonly LoggedEvent[]): number {
  return events.reduce((sum, { payload }) => sum + payload.length + OVERHEAD_BYTES, 0);
}
