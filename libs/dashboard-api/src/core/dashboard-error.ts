import type { ErrorType } from '@gateway/errors';

/** Every error that this API answers with. Statuses and public texts are columns of this table. */
export const dashboardErrors = {
  invalid: row(400, 'invalid_request_error', 'The request is not valid.'),
  malformed: row(400, 'invalid_request_error', 'This is not a valid HTTP request.'),
  invalid_json: row(400, 'invalid_request_error', 'The request body is not valid JSON.'),
  not_signed_in: row(401, 'authentication_error', 'Sign in first.'),
  sign_in_refused: row(401, 'authentication_error', 'The email or the password is wrong.'),
  cross_origin: row(403, 'permission_error', 'Requests from other origins are refused.'),
  not_found: row(404, 'not_found_error', 'This does not exist.'),
  conflict: row(409, 'invalid_request_error', 'This conflicts with what is there.'),
  unknown_host: row(
    421,
    'invalid_request_error',
    'The dashboard answers on this machine only, until its public origin is set (GATEWAY_DASHBOARD_ORIGIN).',
  ),
  body_too_large: row(413, 'invalid_request_error', 'The request body is too large.'),
  unsupported_media_type: row(
    415,
    'invalid_request_error',
    'Requests that change something must have the content type application/json.',
  ),
  request_timeout: row(408, 'timeout_error', 'The request did not arrive in time.'),
  too_many_attempts: row(429, 'rate_limit_error', 'Too many attempts to sign in. Wait before trying again.'),
  headers_too_large: row(431, 'invalid_request_error', 'The request headers are too large.'),
  internal: row(500, 'api_error', 'Something failed on our side. The failure was recorded.'),
  unavailable: row(503, 'service_unavailable_error', 'A service cannot be reached right now. Try again.'),
} as const satisfies Record<string, DashboardErrorRow>;

export type DashboardErrorCode = keyof typeof dashboardErrors;

export interface DashboardErrorRow {
  readonly httpStatus: number;
  readonly type: ErrorType;
  readonly message: string;
}

function row(httpStatus: number, type: ErrorType, message: string): DashboardErrorRow {
  return { httpStatus, type, message };
}

export interface DashboardErrorOptions {
  /** Public text; the table's when absent. */
  readonly message?: string;
  /** The offending field. */
  readonly param?: string;
  readonly metadata?: Readonly<Record<string, unknown>>;
  readonly retryAfterMs?: number;
  /** For our logs only. */
  readonly cause?: unknown;
}

/** An error on its way to the browser. */
export class DashboardError extends Error {
  override readonly name = 'DashboardError';
  readonly param: string | undefined;
  readonly metadata: Readonly<Record<string, unknown>>;
  readonly retryAfterMs: number | undefined;

  constructor(
    readonly code: DashboardErrorCode,
    options: DashboardErrorOptions = {},
  ) {
    super(options.message ?? dashboardErrors[code].message, { cause: options.cause });
    this.param = options.param;
    this.metadata = options.metadata ?? {};
    this.retryAfterMs = options.retryAfterMs;
  }

  get row(): DashboardErrorRow {
    return dashboardErrors[this.code];
  }

  /** The body of the answer: the envelope of the public API. */
  envelope(): { readonly error: Readonly<Record<string, unknown>> } {
    return {
      error: {
        message: this.message,
        type: this.row.type,
        ...(this.param === undefined ? {} : { param: this.param }),
        code: this.code,
        metadata: this.metadata,
      },
    };
  }
}
