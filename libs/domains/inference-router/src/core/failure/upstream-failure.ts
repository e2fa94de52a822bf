import type { ErrorCode, ErrorMetadata } from '@gateway/errors';

/** Why a call to a provider came to nothing. */
export type FailureKind =
  /** The provider says the request is not valid for the model. */
  | 'rejected'
  /** The provider says input and output together are too long. */
  | 'context_too_long'
  /** Our key, account, address or model name is wrong. */
  | 'misconfigured'
  /** The provider asks us to slow down. */
  | 'throttled'
  /** The provider says that it cannot serve now, such as while it loads the model. */
  | 'unavailable'
  /** A 5xx, a cut connection, an answer nobody can read. */
  | 'failed'
  /** No connection within its time. */
  | 'connect_timed_out'
  /** No first byte or event, a stall, or the whole took too long. */
  | 'timed_out'
  /** The target's circuit is open: it failed too often just now. */
  | 'circuit_open'
  /** All of the provider's slots are in use. */
  | 'bulkhead_full'
  /** An operator keeps new requests from the target. */
  | 'drained'
  /** Our own caller cancelled, its deadline passed, or we stop. */
  | 'cancelled';

export interface FailureRule {
  /** What the caller gets when nothing else was possible. */
  readonly code: ErrorCode;
  /** `last_target`: only when there is no other target to go to. */
  readonly retrySameTarget: 'yes' | 'no' | 'last_target';
  readonly tryNextTarget: boolean;
  /** Whether it speaks against the target's health. */
  readonly tripsBreaker: boolean;
  /** Whether a request reached the provider. Decides which of several failures the caller is told. */
  readonly dispatched: boolean;
}

/**
 * A faulty request fails at once: validators differ between providers, and so
 * would its error. A timeout is retried once, since the caller has waited once
 * already: at the next target, else at the same one, unless the target says no.
 */
const failureRules: Readonly<Record<FailureKind, FailureRule>> = {
  rejected: {
    code: 'invalid_request',
    retrySameTarget: 'no',
    tryNextTarget: false,
    tripsBreaker: false,
    dispatched: true,
  },
  context_too_long: {
    code: 'context_length_exceeded',
    retrySameTarget: 'no',
    tryNextTarget: false,
    tripsBreaker: false,
    dispatched: true,
  },
  misconfigured: {
    code: 'upstream_config_error',
    retrySameTarget: 'no',
    tryNextTarget: true,
    tripsBreaker: false,
    dispatched: true,
  },
  throttled: {
    code: 'no_capacity',
    retrySameTarget: 'last_target',
    tryNextTarget: true,
    tripsBreaker: true,
    dispatched: true,
  },
  unavailable: {
    code: 'no_capacity',
    retrySameTarget: 'yes',
    tryNextTarget: true,
    tripsBreaker: true,
    dispatched: true,
  },
  failed: {
    code: 'upstream_error',
    retrySameTarget: 'yes',
    tryNextTarget: true,
    tripsBreaker: true,
    dispatched: true,
  },
  connect_timed_out: {
    code: 'request_timeout',
    retrySameTarget: 'last_target',
    tryNextTarget: true,
    tripsBreaker: true,
    dispatched: true,
  },
  timed_out: {
    code: 'request_timeout',
    retrySameTarget: 'last_target',
    tryNextTarget: true,
    tripsBreaker: true,
    dispatched: true,
  },
  circuit_open: {
    code: 'no_capacity',
    retrySameTarget: 'no',
    tryNextTarget: true,
    tripsBreaker: false,
    dispatched: false,
  },
  bulkhead_full: {
    code: 'no_capacity',
    retrySameTarget: 'no',
    tryNextTarget: true,
    tripsBreaker: false,
    dispatched: false,
  },
  drained: {
    code: 'no_capacity',
    retrySameTarget: 'no',
    tryNextTarget: true,
    tripsBreaker: false,
    dispatched: false,
  },
  cancelled: {
    code: 'request_timeout',
    retrySameTarget: 'no',
    tryNextTarget: false,
    tripsBreaker: false,
    dispatched: false,
  },
};

export interface FailureDetails {
  /** For our logs: may name the provider, never holds a key. */
  readonly detail: string;
  /** Replaces the error table's text; already sanitised. */
  readonly publicMessage?: string;
  readonly param?: string;
  readonly metadata?: ErrorMetadata;
  /** What the provider asked us to wait. */
  readonly retryAfterMs?: number;
  readonly cause?: unknown;
}

/** A call to a provider that failed. Internal: it becomes an error of the table before it leaves the router. */
export class UpstreamFailure extends Error {
  override readonly name = 'UpstreamFailure';
  readonly kind: FailureKind;
  readonly publicMessage: string | undefined;
  readonly param: string | undefined;
  readonly metadata: ErrorMetadata | undefined;
  readonly retryAfterMs: number | undefined;

  constructor(kind: FailureKind, details: FailureDetails) {
    super(details.detail, { cause: details.cause });
    this.kind = kind;
    this.publicMessage = details.publicMessage;
    this.param = details.param;
    this.metadata = details.metadata;
    this.retryAfterMs = details.retryAfterMs;
  }

  get rule(): FailureRule {
    return failureRules[this.kind];
  }
}

/** Any thrown value as a failure; what is unknown counts as the provider's. */
export function toUpstreamFailure(thrown: unknown): UpstreamFailure {
  if (thrown instanceof UpstreamFailure) return thrown;
  return new UpstreamFailure('failed', {
    detail: thrown instanceof Error ? thrown.message : String(thrown),
    cause: thrown,
  });
}
