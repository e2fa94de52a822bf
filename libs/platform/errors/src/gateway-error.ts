import { errorTable, type ErrorCode, type ErrorRow } from './error-table';

/** Extra machine-readable data of an error; public. */
export type ErrorMetadata = Readonly<Record<string, unknown>>;

export interface GatewayErrorOptions {
  /** Public text; the error table's when absent. Never holds keys, prompts or internals. */
  readonly message?: string;
  /** Path of the offending field, in the style of `messages[0].content`. */
  readonly param?: string;
  readonly metadata?: ErrorMetadata;
  /** How long the caller should wait; counts only where the error table names no time of its own. */
  readonly retryAfterMs?: number;
  /** Whether a model's provider had been called by then: the request counts as one, whatever came back. */
  readonly providerCalled?: boolean;
  /** For our logs only. */
  readonly internalMessage?: string;
  readonly cause?: unknown;
}

/**
 * An error of the error table, on its way to the caller. `message` is public;
 * what only we may read is in `internalMessage` and `cause`, which never cross
 * a process boundary.
 */
export class GatewayError extends Error {
  override readonly name: string = 'GatewayError';
  readonly code: ErrorCode;
  readonly param: string | undefined;
  readonly metadata: ErrorMetadata;
  readonly retryAfterMs: number | undefined;
  readonly providerCalled: boolean;
  readonly internalMessage: string | undefined;

  constructor(code: ErrorCode, options: GatewayErrorOptions = {}) {
    super(options.message ?? errorTable[code].message, { cause: options.cause });
    this.code = code;
    this.param = options.param;
    this.metadata = options.metadata ?? {};
    this.retryAfterMs = this.row.retryAfterMs ?? options.retryAfterMs;
    this.providerCalled = options.providerCalled ?? false;
    this.internalMessage = options.internalMessage;
  }

  get row(): ErrorRow {
    return errorTable[this.code];
  }
}

/** Any thrown value as an error of the table; what is unknown becomes a bare `internal_error`. */
export function toGatewayError(thrown: unknown): GatewayError {
  if (thrown instanceof GatewayError) return thrown;
  return new GatewayError('internal_error', {
    internalMessage: thrown instanceof Error ? thrown.message : String(thrown),
    cause: thrown,
  });
}
