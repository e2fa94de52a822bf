import type { EventAppender, EventSubscriber, RunningSubscription } from './event-log';

/** The consumer group of the relay. */
const RELAY_GROUP = 'relay';

export interface RelayPorts {
  /** The log that a domain appends to in its own transactions. */
  readonly outbox: EventSubscriber;
  readonly log: EventAppender;
}

/**
 * Copies a topic from an outbox to another log: in order per key, by one process at
 * a time, resuming where it stopped. At least once: after a crash, events may be
 * appended again.
 */
export function relayTopic({ outbox, log }: RelayPorts, topic: string): Promise<RunningSubscription> {
  return outbox.subscribe({ topic, group: RELAY_GROUP, handle: (events) => log.append(topic, events) });
}
