/** How a request went, as its client saw it. */
export type Outcome =
  /** A whole answer, or a stream to its `[DONE]` without an error in it. */
  | 'answered'
  /** An error of the gateway, before or within a stream. */
  | 'refused'
  /** We hung up on purpose. */
  | 'cancelled'
  /** The connection ended without an answer, or in the middle of one. */
  | 'lost'
  /** Nothing came for longer than anything may take. */
  | 'late';

export type Kind = 'whole' | 'stream' | 'idempotent' | 'cancelled';

/** One request, repetitions by its Idempotency-Key included. */
export interface Attempt {
  /** Travels as `user`, so that the provider and the books name it, too. */
  readonly marker: string;
  readonly kind: Kind;
  readonly tenant: string;
  readonly beganMs: number;
  readonly endedMs: number;
  readonly outcome: Outcome;
  /** The status of the answer, 200 also where a stream ended with an error. */
  readonly status?: number;
  /** Of the error. */
  readonly code?: string;
  readonly generationId?: string;
  /** As `usage.cost` said. */
  readonly costNanoUsd?: bigint;
  /** What was wrong with the answer itself: no envelope, an unknown code. */
  readonly fault?: string;
}

/** Whether the gateway did what it should: also where it says that there is no credit any more. */
export function isServed({ outcome, code }: Attempt): boolean {
  return outcome === 'answered' || outcome === 'cancelled' || code === 'insufficient_credits';
}
