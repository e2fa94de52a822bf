import type { ErrorCode, ErrorMetadata } from '@gateway/errors';

/** Why a call to a provider failed. */
export type FailureKind =
  /** The provider rejected the request as not valid. */
  | 'rejected'
  /** The provider reports that the request exceeds the context window. */
  | 'context_too_long'
  /** Our key, account, address or model name is wrong. */
  | 'misconfigured'
  /** The provider limits our request rate. */
  | 'throttled'
  /** The provider is temporarily unavailable, for example while it loads the model. */
  | 'unavailable'
  /** A 5xx, a closed connection, or an unreadable response. */
  | 'failed'
  /** The connection was not established in time. */
  | 'connect_timed_out'
  /** No first byte or event in time, a stall, or the total timeout. */
  | 'timed_out'
  /** The target's circuit is open after too many failures. */
  | 'circuit_open'
  /** All of the provider's slots are in use. */
  | 'bulkhead_full'
  /** An operator drained the target. */
  | 'drained'
  /** The caller cancelled, its deadline passed, or the router stops. */
  | 'cancelled';

export interface FailureRule {
  /** The public error when no other attempt succeeds. */
  readonly code: ErrorCode;
  /** `last_target`: only when no further target is left. */
  readonly retrySameTarget: 'yes' | 'no' | 'last_target';
  readonly tryNextTarget: boolean;
  /** Whether it counts towards opening the circuit. */
  readonly tripsBreaker: boolean;
  /** Whether the request reached the provider. Such failures take precedence in the public error. */
  readonly dispatched: boolean;
}

/**
 * A rejected request is sent to targets of other dialects only: those of the same one would reject it, too. A timeout is
 * retried once only, because the caller has already waited: at the next target, else at the same one, unless `retry_timeouts` is off.
 */
const failureRules: Readonly<Record<FailureKind, FailureRule>> = {
  rejected: {
    code: 'invalid_request',
    retrySameTarget: 'no',
    tryNextTarget: true,
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

/** A provider's error, for operators only. Empty: unknown. */
export interface ProviderErrorReport {
  /** 0 for an error within a successful response. */
  readonly httpStatus: number;
  readonly code: string;
  readonly type: string;
  /** Without secrets; empty unless a setting allows texts, which may quote the prompt. */
  readonly text: string;
}

export interface FailureDetails {
  /** For logs: may name the provider, never contains a key. */
  readonly detail: string;
  /** Replaces the error table's text; already sanitized. */
  readonly publicMessage?: string;
  readonly param?: string;
  readonly metadata?: ErrorMetadata;
  /** The provider's `retry-after`. */
  readonly retryAfterMs?: number;
  /** The provider refuses the name of the output limit, which the gateway chose. */
  readonly refusesLimitName?: boolean;
  /** The error that the provider responded with. */
  readonly reported?: ProviderErrorReport;
  readonly cause?: unknown;
}

/** A failed call to a provider. Internal: the router maps it to an error of the error table. */
export class UpstreamFailure extends Error {
  override readonly name = 'UpstreamFailure';
  readonly kind: FailureKind;
  readonly publicMessage: string | undefined;
  readonly param: string | undefined;
  readonly metadata: ErrorMetadata | undefined;
  readonly retryAfterMs: number | undefined;
  readonly refusesLimitName: boolean;
  readonly reported: ProviderErrorReport | undefined;

  constructor(kind: FailureKind, details: FailureDetails) {
    super(details.detail, { cause: details.cause });
    this.kind = kind;
    this.publicMessage = details.publicMessage;
    this.param = details.param;
    this.metadata = details.metadata;
    this.retryAfterMs = details.retryAfterMs;
    this.refusesLimitName = details.refusesLimitName ?? false;
    this.reported = details.reported;
  }

  get rule(): FailureRule {
    return failureRules[this.kind];
  }
}

/** Wraps any thrown value; unknown ones count as failures of the provider. */
export function toUpstreamFailure(thrown: unknown): UpstreamFailure {
  if (thrown instanceof UpstreamFailure) return thrown;
  return new UpstreamFailure('failed', {
    detail: thrown instanceof Error ? thrown.message : String(thrown),
    cause: thrown,
  });
}
