import type { LoggedEvent, TopicGroup } from '../event-log';
import type { EventLogLimits } from '../delivery/limits';

/**
 * What this process has just committed, for those of its consumers that are in
 * charge: they read from the database only what others wrote, or what they have
 * left lying for too long, and nobody has to announce to them what is here.
 *
 * Nothing depends on it but speed. What is not at hand is in the database.
 */
export interface AtHand {
  /** Groups of the topic whose member in charge is in this process. */
  groupsOf(topic: string): readonly string[];
  /** These are committed, one after the other. Wakes who reads their topic. */
  offer(topic: string, events: readonly LoggedEvent[]): void;
  /** This process has the group's member in charge from now on, until it leaves. */
  enter(reader: TopicGroup, wake: () => void): Inbox;
}

/** What comes next in a topic for one group, at least one event however large; none where there is nothing to be had. */
export interface NextEvents {
  readonly events: readonly LoggedEvent[];
  /** Whether there was nothing after them. */
  readonly isLast: boolean;
}

/** What is at hand for one group. */
export interface Inbox {
  /** What comes right after this position. */
  take(after: bigint, maxEvents: number, maxBytes: number): NextEvents;
  /** Nothing is here from now on. Safe to call twice. */
  leave(): void;
}

/** About what an event takes beside its payload. */
const BYTES_BESIDE_PAYLOAD = 500;

interface Reader extends TopicGroup {
  readonly wake: () => void;
  readonly put: (events: readonly LoggedEvent[]) => void;
}

export function createAtHand({ maxBytesAtHand }: Pick<EventLogLimits, 'maxBytesAtHand'>): AtHand {
  const readers = new Set<Reader>();
  const readersOf = (topic: string) => [...readers].filter((reader) => reader.topic === topic);
  return {
    groupsOf: (topic) => readersOf(topic).map(({ group }) => group),
    offer(topic, events) {
      for (const { put, wake } of readersOf(topic)) {
        put(events);
        wake();
      }
    },
    enter({ topic, group }, wake) {
      const lying = createLying(maxBytesAtHand);
      const reader: Reader = { topic, group, wake, put: lying.put };
      readers.add(reader);
      return {
        take: lying.take,
        leave() {
          readers.delete(reader);
          lying.clear();
        },
      };
    },
  };
}

/** Writes of a topic by where they begin, since they may be told of in another order than they were committed in. */
function createLying(maxBytes: number): Pick<Inbox, 'take'> & Pick<Reader, 'put'> & { clear(): void } {
  const writes = new Map<bigint, readonly LoggedEvent[]>();
  let bytes = 0;

  function put(events: readonly LoggedEvent[]): void {
    const [first] = events;
    if (first === undefined) return;
    // Whoever is that far behind reads what is oldest first, which is not here for long.
    if (bytes > maxBytes) clear();
    writes.set(first.position, events);
    bytes += sizeOf(events);
  }

  function clear(): void {
    writes.clear();
    bytes = 0;
  }

  function remove(begins: bigint, events: readonly LoggedEvent[]): void {
    writes.delete(begins);
    bytes -= sizeOf(events);
  }

  function take(after: bigint, maxEvents: number, maxTaken: number): NextEvents {
    const taken: LoggedEvent[] = [];
    let takenBytes = 0;
    let begins = after + 1n;
    for (let write = writes.get(begins); write !== undefined; write = writes.get(begins)) {
      remove(begins, write);
      for (const [index, event] of write.entries()) {
        if (taken.length > 0 && (taken.length >= maxEvents || takenBytes >= maxTaken)) {
          put(write.slice(index));
          return { events: taken, isLast: false };
        }
        taken.push(event);
        takenBytes += event.payload.length;
        begins = event.position + 1n;
      }
    }
    if (taken.length === 0) forgetBefore(after);
    return { events: taken, isLast: true };
  }

  /** What was read from the database meanwhile. */
  function forgetBefore(position: bigint): void {
    for (const [begins, events] of writes) if (begins <= position) remove(begins, events);
  }

  return { put, take, clear };
}

function sizeOf(events: readonly LoggedEvent[]): number {
  return events.reduce((sum, { payload }) => sum + payload.length + BYTES_BESIDE_PAYLOAD, 0);
}
