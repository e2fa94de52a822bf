import type { EventAppender, EventSubscriber, RunningSubscription } from './event-log';

/** The group that carries events from an outbox to the log that everybody reads. */
const RELAY_GROUP = 'relay';

export interface RelayPorts {
  /** Where a domain announces in its own transactions. */
  readonly outbox: EventSubscriber;
  readonly log: EventAppender;
}

/**
 * Carries a topic from an outbox to another log: in order per key, by one
 * process at a time, and from where it stopped. At least once: what was
 * appended and not noted before a crash is appended again.
 */
export function relayTopic({ outbox, log }: RelayPorts, topic: string): Promise<RunningSubscription> {
  return outbox.subscribe({ topic, group: RELAY_GROUP, handle: (events) => log.append(topic, events) });
}
