/** Names of the topics. Both carry protobuf messages of gateway.events.v1 keyed by organization. */
export const TOPIC_GENERATION_FINISHED = 'generation.finished';
export const TOPIC_GENERATION_SETTLED = 'generation.settled';

export interface NewEvent {
  /** Events of one key stay in order. */
  readonly key: string;
  readonly payload: Uint8Array;
  /** Text pairs such as `traceparent`. */
  readonly headers?: Readonly<Record<string, string>>;
}

export interface LoggedEvent extends NewEvent {
  readonly topic: string;
  /** Where it is: unique within the topic, ascending within a key, and nothing else. */
  readonly position: bigint;
  readonly headers: Readonly<Record<string, string>>;
}

/** A consumer group of a topic. */
export interface TopicGroup {
  readonly topic: string;
  readonly group: string;
}

/** Who reads each topic, so that whoever writes to it can tell how far they are behind. */
export const READERS_OF_FINISHED: TopicGroup = { topic: TOPIC_GENERATION_FINISHED, group: 'billing-ledger' };
export const READERS_OF_SETTLED: TopicGroup = { topic: TOPIC_GENERATION_SETTLED, group: 'usage-aggregator' };

/**
 * Appends to a durable log. `append` resolves once the events survive a crash
 * of any process; it rejects when that is not known, and the same event may
 * then be in the log all the same: consumers are idempotent.
 */
export interface EventAppender {
  append(topic: string, events: readonly NewEvent[]): Promise<void>;
}

/**
 * Appends inside the caller's own transaction: the events exist if and only if
 * it commits. `Transaction` is the driver's, such as a `pg` client.
 */
export interface TransactionalAppender<Transaction> {
  /** @throws InvalidEventError when one of them is refused. */
  appending(topic: string, events: readonly NewEvent[]): TransactionalAppend<Transaction>;
}

export interface TransactionalAppend<Transaction> {
  /** Sends the events, at once, to be written in the given transaction. */
  write(transaction: Transaction): Promise<void>;
  /** To be called once that has committed: consumers in this process are told so, and find the events otherwise only when they next look. */
  committed(): void;
}

/**
 * Handles a batch, in order of position per key; events of one key are never
 * with two members of a group at once. At least once: after a crash
 * or a rejection the same events come again. To give up on single events throw
 * an UnprocessableEventsError that names them; they go to the dead letters with
 * their reason and the rest is delivered again.
 */
export type EventHandler = (events: readonly LoggedEvent[]) => Promise<void>;

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
  /** Waits for the batch under way, then stops. */
  stop(): Promise<void>;
}

/**
 * Delivers events to consumer groups. Each group sees every event at least
 * once; one failing event never holds up the ones behind it for good.
 */
export interface EventSubscriber {
  subscribe(subscription: Subscription): Promise<RunningSubscription>;
}

/** Tells how far a group is behind. */
export interface EventLag {
  /** Events of the topic that the group has not handled yet, wherever its members run. */
  countWaiting(group: TopicGroup): Promise<number>;
}

/** Shows in `gateway_events_lag` how far groups are behind; those of own subscriptions without being asked to. */
export interface WatchesLag {
  /** From now on, as long as the log can tell, whether or not the group has a member anywhere. */
  watchLag(group: TopicGroup): void;
}
