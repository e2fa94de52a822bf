import { errorTable, type ErrorCode, type ErrorRow } from './error-table';

/** Extra machine-readable data of an error; public. */
export type ErrorMetadata = Readonly<Record<string, unknown>>;

export interface GatewayErrorOptions {
  /** Public text; the error table's by default. Must not contain keys, prompts or internal details. */
  readonly message?: string;
  /** Path of the offending field, in the style of `messages[0].content`. */
  readonly param?: string;
  readonly metadata?: ErrorMetadata;
  /** How long the client should wait; used only where the error table has no fixed time. */
  readonly retryAfterMs?: number;
  /** A retry after this time may succeed, although the code usually advises against one. */
  readonly retrySoonMs?: number;
  /** Whether a provider was called. The request then counts against its limits, although it failed. */
  readonly providerCalled?: boolean;
  /** Whether the failed generation has a record, so that its id can be looked up. */
  readonly generationRecorded?: boolean;
  /** For our logs only. */
  readonly internalMessage?: string;
  readonly cause?: unknown;
}

/**
 * A thrown error of the error table. `message` is public. `internalMessage` and
 * `cause` are for our logs and never cross a process boundary.
 */
export class GatewayError extends Error {
  override readonly name: string = 'GatewayError';
  readonly code: ErrorCode;
  readonly param: string | undefined;
  readonly metadata: ErrorMetadata;
  readonly retryAfterMs: number | undefined;
  readonly retrySoonMs: number | undefined;
  readonly providerCalled: boolean;
  readonly generationRecorded: boolean;
  readonly internalMessage: string | undefined;

  constructor(code: ErrorCode, options: GatewayErrorOptions = {}) {
    super(options.message ?? errorTable[code].message, { cause: options.cause });
    this.code = code;
    this.param = options.param;
    this.metadata = options.metadata ?? {};
    this.retryAfterMs = this.row.retryAfterMs ?? options.retryAfterMs;
    this.retrySoonMs = options.retrySoonMs;
    this.providerCalled = options.providerCalled ?? false;
    this.generationRecorded = options.generationRecorded ?? false;
    this.internalMessage = options.internalMessage;
  }

  get row(): ErrorRow {
    return errorTable[this.code];
  }
}

/** Converts any thrown value; unknown errors become an `internal_error` with the table's text. */
export function toGatewayError(thrown: unknown): GatewayError {
  if (thrown instanceof GatewayError) return thrown;
  return new GatewayError('internal_error', {
    internalMessage: thrown instanceof Error ? thrown.message : String(thrown),
    cause: thrown,
  });
}
