import type { EventLag } from './event-log';
import type { UnixMs } from '@gateway/base';

export interface DeadLetterRef {
  readonly topic: string;
  readonly group: string;
  readonly position: bigint;
}

/**
 * - `waiting`: for a person to decide.
 * - `redelivering`: someone asked for it to be delivered once more.
 * - `discarded`: nobody will deliver it, unless someone asks for it after all.
 */
export type DeadLetterState = 'waiting' | 'redelivering' | 'discarded';

/** An event that a group gave up on, as a list shows it. */
export interface DeadLetter extends DeadLetterRef {
  readonly key: string;
  readonly state: DeadLetterState;
  /** Why the last delivery failed. */
  readonly reason: string;
  /** Deliveries that failed. */
  readonly attempts: number;
  /** When the group gave it up first. */
  readonly deadLetteredUnixMs: UnixMs;
  /** When a delivery failed last. */
  readonly failedUnixMs: UnixMs;
  readonly discarded: { readonly unixMs: UnixMs; readonly reason: string } | undefined;
  readonly payloadBytes: number;
}

export interface WholeDeadLetter extends DeadLetter {
  readonly payload: Uint8Array;
  readonly headers: Readonly<Record<string, string>>;
}

export interface DeadLetterPage {
  /** Newest first: by position, from the highest. */
  readonly letters: readonly DeadLetter[];
  /** Where the next page begins; absent on the last. */
  readonly nextBefore: bigint | undefined;
}

export interface DeadLetterQuery {
  readonly topic: string;
  readonly group: string;
  readonly state: DeadLetterState;
  /** Only those of lower positions. */
  readonly before?: bigint;
  /** At least 1. */
  readonly limit: number;
}

/**
 * What groups gave up on. Duties of every implementation:
 * - A letter is kept until it is delivered after all, or is discarded and its
 *   retention has passed. None is ever lost by a crash.
 * - Every call is safe to repeat.
 */
export interface DeadLetters {
  /** How many there are of each state; a state of more than 10,000 says so many. */
  count(of: Pick<DeadLetterRef, 'topic' | 'group'>): Promise<Readonly<Record<DeadLetterState, number>>>;
  list(query: DeadLetterQuery): Promise<DeadLetterPage>;
  read(ref: DeadLetterRef): Promise<WholeDeadLetter | undefined>;
  /**
   * Has a letter delivered once more to its group alone: by the member in
   * charge, on its own, out of order, at least once. When the handler takes it
   * the letter is gone; when it fails again the letter waits again, with its new
   * reason and one more attempt. A failure that passes by itself is repeated.
   * A discarded letter may be redelivered too, as long as it is kept.
   */
  redeliver(ref: DeadLetterRef): Promise<'redelivering' | 'not_found'>;
  /**
   * Gives a letter up for good. `redelivering`: refused, since a handler may
   * just be taking it.
   */
  discard(ref: DeadLetterRef, reason: string): Promise<'discarded' | 'redelivering' | 'not_found'>;
}

/** What can be looked at of the groups of an event log. */
export interface WatchedEventLog extends EventLag {
  readonly deadLetters: DeadLetters;
}
