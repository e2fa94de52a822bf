/** Outcome of a request for its client. */
export type Outcome =
  /** A complete response, or a stream up to `[DONE]` without an error. */
  | 'completed'
  /** An error of the gateway, also within a stream. */
  | 'failed'
  /** The client closed the connection on purpose. */
  | 'cancelled'
  /** The connection was closed without a complete response. */
  | 'disconnected'
  /** There was no complete response within the longest allowed time. */
  | 'timed out';

export type Kind = 'non-streaming' | 'stream' | 'idempotent' | 'cancelled';

/** One request, including retries with its Idempotency-Key. */
export interface Attempt {
  /** Sent as `user`, so that it appears at the provider and in the usage records. */
  readonly marker: string;
  readonly kind: Kind;
  readonly tenant: string;
  readonly startedMs: number;
  readonly endedMs: number;
  readonly outcome: Outcome;
  /** HTTP status; 200 also for a stream that ended with an error. */
  readonly status?: number;
  /** The error code. */
  readonly code?: string;
  readonly generationId?: string;
  /** From `usage.cost`. */
  readonly costNanoUsd?: bigint;
  /** Why the response is invalid: no error envelope, an unknown code. */
  readonly problem?: string;
}

/** Whether the gateway handled the request correctly, including one without credit. */
export function isServed({ outcome, code }: Attempt): boolean {
  return outcome === 'completed' || outcome === 'cancelled' || code === 'insufficient_credits';
}
