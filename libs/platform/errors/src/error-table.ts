/**
 * The closed table of every error that the gateway returns. Mappings to HTTP,
 * gRPC and retry advice are columns of this table, never switches elsewhere.
 */

export type ErrorType =
  | 'invalid_request_error'
  | 'authentication_error'
  | 'permission_error'
  | 'not_found_error'
  | 'rate_limit_error'
  | 'insufficient_credits'
  | 'timeout_error'
  | 'api_error'
  | 'service_unavailable_error';

/** gRPC status codes by number, as in google.rpc.Code. */
export enum GrpcStatus {
  InvalidArgument = 3,
  DeadlineExceeded = 4,
  NotFound = 5,
  PermissionDenied = 7,
  ResourceExhausted = 8,
  FailedPrecondition = 9,
  Aborted = 10,
  Unimplemented = 12,
  Internal = 13,
  Unavailable = 14,
  Unauthenticated = 16,
}

/**
 * What a client should do.
 * - `backoff`: retry the same request later.
 * - `fix`: change the request first.
 * - `act`: act outside the request: top up, raise a budget, wait until midnight.
 * - `none`: do not retry; the service must be fixed.
 */
export type Advice = 'backoff' | 'fix' | 'act' | 'none';

export interface ErrorRow {
  readonly type: ErrorType;
  readonly httpStatus: number;
  readonly grpcStatus: GrpcStatus;
  readonly advice: Advice;
  /**
   * How long a client waits before a retry, in milliseconds. Undefined where it
   * varies (the end of the minute, midnight) and the error itself carries it, or
   * where a retry cannot succeed.
   */
  readonly retryAfterMs?: number;
  /** Default public text, used where the error has no more specific message. */
  readonly message: string;
}

function row(
  httpStatus: number,
  type: ErrorType,
  grpcStatus: GrpcStatus,
  advice: Advice,
  message: string,
  retryAfterMs?: number,
): ErrorRow {
  return {
    type,
    httpStatus,
    grpcStatus,
    advice,
    message,
    retryAfterMs,
  };
}

const IN_FLIGHT_RETRY_AFTER_MS = 2_000;
const NO_CAPACITY_RETRY_AFTER_MS = 10_000;

const invalid = (message: string): ErrorRow =>
  row(400, 'invalid_request_error', GrpcStatus.InvalidArgument, 'fix', message);
const unauthenticated = (message: string): ErrorRow =>
  row(401, 'authentication_error', GrpcStatus.Unauthenticated, 'fix', message);
const forbidden = (message: string): ErrorRow =>
  row(403, 'permission_error', GrpcStatus.PermissionDenied, 'fix', message);
const notFound = (message: string): ErrorRow =>
  row(404, 'not_found_error', GrpcStatus.NotFound, 'fix', message);

export const errorTable = {
  context_length_exceeded: invalid(
    "The input and max_tokens together are longer than the model's context window.",
  ),
  image_url_not_supported: invalid(
    'Remote image links are not supported. Send the image inline as a base64 data: URI.',
  ),
  invalid_json: invalid('The request body is not valid JSON.'),
  invalid_request: invalid('The request is not valid for this model.'),
  json_mode_no_stream: invalid(
    'A JSON response format cannot be combined with streaming. Use tool calling, or stream: false.',
  ),
  json_mode_not_supported: invalid('This model cannot enforce a JSON response format.'),
  max_tokens_exceeds_cap: invalid("max_tokens is above the organization's cap."),
  missing_messages: invalid('The request has no messages array.'),
  missing_model: invalid('The request has no model field.'),
  n_not_allowed: invalid(
    'More than one completion per request (n > 1) is disabled. Support can enable it for your organization.',
  ),
  reasoning_effort_not_supported: invalid('This model does not accept that reasoning_effort.'),
  tools_not_supported: invalid('This model cannot call tools.'),
  unknown_parameter: invalid('The request has an unknown parameter.'),
  vision_not_available: invalid('This model cannot read images.'),
  invalid_api_key: unauthenticated('The API key is unknown. Check the Authorization header.'),
  ip_not_allowed: unauthenticated("The client's IP address is not on this API key's allowlist."),
  key_expired: unauthenticated('This API key has expired.'),
  key_revoked: unauthenticated('This API key was revoked.'),
  insufficient_credits: row(
    402,
    'insufficient_credits',
    GrpcStatus.FailedPrecondition,
    'act',
    'The balance does not cover the estimated cost of this request.',
  ),
  missing_scope: forbidden('This API key lacks the scope that the endpoint requires.'),
  model_not_allowed: forbidden('This API key may not use that model.'),
  org_suspended: forbidden('The organization is suspended. Retrying does not help.'),
  generation_not_found: notFound(
    'No generation of this organization has this ID. One that has just ended is not settled yet: retry in a few seconds. Refused requests have no generation.',
  ),
  model_not_found: notFound('The model does not exist.'),
  route_not_found: notFound('This path does not exist.'),
  request_timeout: row(
    408,
    'timeout_error',
    GrpcStatus.DeadlineExceeded,
    'backoff',
    'The model did not respond in time.',
  ),
  idempotency_key_in_flight: row(
    409,
    'invalid_request_error',
    GrpcStatus.Aborted,
    'backoff',
    'A request with this Idempotency-Key is still being processed.',
    IN_FLIGHT_RETRY_AFTER_MS,
  ),
  request_too_large: row(
    413,
    'invalid_request_error',
    GrpcStatus.InvalidArgument,
    'fix',
    'The request body is too large.',
  ),
  idempotency_key_reused: row(
    422,
    'invalid_request_error',
    GrpcStatus.InvalidArgument,
    'fix',
    'This Idempotency-Key was used before with a different request body.',
  ),
  daily_budget_exceeded: row(
    429,
    'rate_limit_error',
    GrpcStatus.ResourceExhausted,
    'act',
    'The daily spend cap is reached. It resets at 00:00 UTC.',
  ),
  rpm_exceeded: row(
    429,
    'rate_limit_error',
    GrpcStatus.ResourceExhausted,
    'backoff',
    'Too many requests in this minute.',
  ),
  tpm_exceeded: row(
    429,
    'rate_limit_error',
    GrpcStatus.ResourceExhausted,
    'backoff',
    'Too many tokens in this minute.',
  ),
  internal_error: row(
    500,
    'api_error',
    GrpcStatus.Internal,
    'none',
    'Something failed on our side. The failure was recorded.',
  ),
  upstream_config_error: row(
    500,
    'api_error',
    GrpcStatus.Internal,
    'none',
    'This model is misconfigured on our side. The team was alerted.',
  ),
  upstream_error: row(
    502,
    'api_error',
    GrpcStatus.Unavailable,
    'backoff',
    'The model provider failed. Retry with backoff.',
  ),
  no_capacity: row(
    503,
    'service_unavailable_error',
    GrpcStatus.Unavailable,
    'backoff',
    `No capacity right now. Retry in ${NO_CAPACITY_RETRY_AFTER_MS / 1000} seconds.`,
    NO_CAPACITY_RETRY_AFTER_MS,
  ),
} as const satisfies Record<string, ErrorRow>;

export type ErrorCode = keyof typeof errorTable;

export const errorCodes = Object.keys(errorTable) as readonly ErrorCode[];

export function isErrorCode(text: string): text is ErrorCode {
  return Object.hasOwn(errorTable, text);
}
