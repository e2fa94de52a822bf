import { catalogue, type CatalogueRow, type ErrorCode } from './catalogue';

/** Extra machine-readable data of an error; public. */
export type ErrorMetadata = Readonly<Record<string, unknown>>;

export interface GatewayErrorOptions {
  /** Public text; the catalogue's when absent. Never holds keys, prompts or internals. */
  readonly message?: string;
  /** Path of the offending field, in the style of `messages[0].content`. */
  readonly param?: string;
  readonly metadata?: ErrorMetadata;
  /** How long the caller should wait. */
  readonly retryAfterMs?: number;
  /** For our logs only. */
  readonly internalMessage?: string;
  readonly cause?: unknown;
}

/**
 * An error of the catalogue, on its way to the caller. `message` is public;
 * what only we may read is in `internalMessage` and `cause`, which never cross
 * a process boundary.
 */
export class GatewayError extends Error {
  override readonly name = 'GatewayError';
  readonly code: ErrorCode;
  readonly param: string | undefined;
  readonly metadata: ErrorMetadata;
  readonly retryAfterMs: number | undefined;
  readonly internalMessage: string | undefined;

  constructor(code: ErrorCode, options: GatewayErrorOptions = {}) {
    super(options.message ?? catalogue[code].message, { cause: options.cause });
    this.code = code;
    this.param = options.param;
    this.metadata = options.metadata ?? {};
    this.retryAfterMs = options.retryAfterMs;
    this.internalMessage = options.internalMessage;
  }

  get row(): CatalogueRow {
    return catalogue[this.code];
  }
}

/** Any thrown value as a catalogue error; what is unknown becomes a bare `internal_error`. */
export function toGatewayError(thrown: unknown): GatewayError {
  if (thrown instanceof GatewayError) return thrown;
  return new GatewayError('internal_error', {
    internalMessage: thrown instanceof Error ? thrown.message : String(thrown),
    cause: thrown,
  });
}
