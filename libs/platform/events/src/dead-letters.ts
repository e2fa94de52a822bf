import type { AuditEntries } from '@gateway/audit';
import type { AuditEntry, UnixMs } from '@gateway/base';
import type { EventLag } from './event-log';

export interface DeadLetterRef {
  readonly topic: string;
  readonly group: string;
  readonly position: bigint;
}

/**
 * - `waiting`: an operator has to decide.
 * - `redelivering`: an operator requested another delivery.
 * - `discarded`: not delivered again unless an operator requests it.
 */
export type DeadLetterState = 'waiting' | 'redelivering' | 'discarded';

/** An event that a group could not handle, without its payload. */
export interface DeadLetter extends DeadLetterRef {
  readonly key: string;
  readonly state: DeadLetterState;
  /** Why the last delivery failed. */
  readonly reason: string;
  /** Deliveries that failed. */
  readonly attempts: number;
  /** When it first became a dead letter. */
  readonly deadLetteredUnixMs: UnixMs;
  /** When the last delivery failed. */
  readonly failedUnixMs: UnixMs;
  readonly discarded: { readonly unixMs: UnixMs; readonly reason: string } | undefined;
  readonly payloadBytes: number;
}

export interface DeadLetterWithPayload extends DeadLetter {
  readonly payload: Uint8Array;
  readonly headers: Readonly<Record<string, string>>;
}

export interface DeadLetterPage {
  /** Newest first: by position, from the highest. */
  readonly deadLetters: readonly DeadLetter[];
  /** The start of the next page; absent on the last. */
  readonly nextBefore: bigint | undefined;
}

export interface DeadLetterQuery {
  readonly topic: string;
  readonly group: string;
  readonly state: DeadLetterState;
  /** Only lower positions. */
  readonly before?: bigint;
  /** At least 1. */
  readonly limit: number;
}

/**
 * The dead letters of consumer groups. Duties of every implementation:
 * - A dead letter is stored until it is delivered, or is discarded and past its
 *   retention. A crash loses none.
 * - Every call is idempotent.
 * - A change and its audit entry are one transaction; without a change there is no entry.
 */
export interface DeadLetters {
  /** The number per state, counted up to 10,000. */
  count(of: Pick<DeadLetterRef, 'topic' | 'group'>): Promise<Readonly<Record<DeadLetterState, number>>>;
  list(query: DeadLetterQuery): Promise<DeadLetterPage>;
  read(ref: DeadLetterRef): Promise<DeadLetterWithPayload | undefined>;
  /**
   * Requests another delivery to this group only: separately, out of order, at least
   * once, by the group's leader. On success the dead letter is deleted. On failure
   * it waits again with the new reason and one more attempt; temporary errors are
   * retried. Discarded dead letters may be redelivered as well.
   */
  redeliver(ref: DeadLetterRef, audit: AuditEntry): Promise<'redelivering' | 'not_found'>;
  /** Returns `redelivering`, and changes nothing, while a handler may be processing the dead letter. */
  discard(
    ref: DeadLetterRef,
    reason: string,
    audit: AuditEntry,
  ): Promise<'discarded' | 'redelivering' | 'not_found'>;
  /** The audit entries of these changes. */
  readonly auditEntries: AuditEntries;
}

/** The lag and the dead letters of consumer groups. */
export interface InspectableEventLog extends EventLag {
  readonly deadLetters: DeadLetters;
}
