import type { ConsumerProgress } from '@gateway/base';

/** Topics with protobuf messages of gateway.events.v1, keyed by organization. */
export const TOPIC_GENERATION_FINISHED = 'generation.finished';
export const TOPIC_GENERATION_SETTLED = 'generation.settled';

export interface NewEvent {
  /** Events of a key keep their order. */
  readonly key: string;
  readonly payload: Uint8Array;
  /** Text pairs such as `traceparent`. */
  readonly headers?: Readonly<Record<string, string>>;
}

export interface LoggedEvent extends NewEvent {
  readonly topic: string;
  /** Unique within the topic and ascending within a key; has no other meaning. */
  readonly position: bigint;
  readonly headers: Readonly<Record<string, string>>;
}

/** A consumer group of a topic. */
export interface TopicGroup {
  readonly topic: string;
  readonly group: string;
}

/** The consumer group of each topic, so that producers can measure its lag. */
export const FINISHED_CONSUMER_GROUP: TopicGroup = {
  topic: TOPIC_GENERATION_FINISHED,
  group: 'billing-ledger',
};
export const SETTLED_CONSUMER_GROUP: TopicGroup = {
  topic: TOPIC_GENERATION_SETTLED,
  group: 'usage-aggregator',
};

/**
 * Appends to a durable log. `append` resolves once the events survive a crash of
 * any process. After a rejection the events may be in the log anyway, so consumers
 * are idempotent.
 */
export interface EventAppender {
  append(topic: string, events: readonly NewEvent[]): Promise<void>;
}

/**
 * Appends inside the caller's transaction: the events exist if and only if it
 * commits. `Transaction` is a type of the driver, such as a `pg` client.
 */
export interface TransactionalAppender<Transaction> {
  /** @throws InvalidEventError when an event is refused. */
  appending(topic: string, events: readonly NewEvent[]): TransactionalAppend<Transaction>;
}

export interface TransactionalAppend<Transaction> {
  /** Writes the events in the given transaction. Sends the statement synchronously. */
  write(transaction: Transaction): Promise<void>;
  /** Call this after the commit to notify consumers in this process; otherwise they find the events at their next poll. */
  committed(): void;
}

/**
 * Handles a batch, in order of position per key. Events of a key are never handled
 * by two members of a group concurrently. Delivery is at least once: after a crash
 * or a rejection the same events are delivered again. To reject single events,
 * throw an UnprocessableEventsError that names them: they become dead letters with
 * their reason, and the rest is delivered again.
 *
 * `progress` is given by a log that is in another database than the effects. The handler
 * may store it with the last effects; otherwise the log stores it afterwards.
 */
export type EventHandler = (events: readonly LoggedEvent[], progress?: ConsumerProgress) => Promise<void>;

export interface Unprocessable {
  readonly event: LoggedEvent;
  readonly reason: string;
}

export class UnprocessableEventsError extends Error {
  override readonly name = 'UnprocessableEventsError';

  constructor(readonly unprocessable: readonly Unprocessable[]) {
    super(`${unprocessable.length} events cannot be handled: ${unprocessable[0]?.reason ?? ''}`);
  }
}

export interface Subscription extends TopicGroup {
  readonly handle: EventHandler;
  readonly maxBatchSize?: number;
}

export interface RunningSubscription {
  /** Waits for the current batch, then stops. */
  stop(): Promise<void>;
}

/**
 * Delivers events to consumer groups. Each group gets every event at least once. A
 * failing event never blocks later ones permanently.
 */
export interface EventSubscriber {
  subscribe(subscription: Subscription): Promise<RunningSubscription>;
}

/** Measures the lag of a group. */
export interface EventLag {
  /** Events of the topic that the group has not handled yet, in all processes. */
  countWaiting(group: TopicGroup): Promise<number>;
}

/** Exposes the lag of groups as `gateway_events_lag`. Groups with a subscription here are included automatically. */
export interface LagWatcher {
  /** Starts to expose the lag of a group, whether or not it has members. */
  watchLag(group: TopicGroup): void;
}
