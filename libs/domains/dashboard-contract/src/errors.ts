import type { ErrorType } from '@gateway/errors';

/** The error table of this API. Statuses and public texts are columns of this table. */
export const dashboardErrors = {
  invalid: row(
    400,
    'invalid_request_error',
    'The request is not valid.',
    'A field is missing, unknown, of the wrong type, or violates a constraint.',
  ),
  malformed: row(
    400,
    'invalid_request_error',
    'This is not a valid HTTP request.',
    'The request could not be parsed as HTTP.',
  ),
  invalid_json: row(
    400,
    'invalid_request_error',
    'The request body is not valid JSON.',
    'The body is not a JSON object or array.',
  ),
  link_not_valid: row(
    400,
    'invalid_request_error',
    'This link is no longer valid. Request a new one.',
    'The token of an invitation or a password reset is unknown, used, revoked or expired.',
  ),
  not_signed_in: row(401, 'authentication_error', 'Sign in first.', 'There is no session, or it has ended.'),
  management_token_not_valid: row(
    401,
    'authentication_error',
    'This management token is unknown, expired or revoked.',
    'The management token is unknown, expired or revoked, or its creator has lost the right to create it.',
  ),
  sign_in_refused: row(
    401,
    'authentication_error',
    'Incorrect email or password.',
    'The email or the password is incorrect.',
  ),
  second_factor_required: row(
    401,
    'authentication_error',
    'Enter the code from your authenticator app.',
    'The password is correct, and the account also needs a code.',
  ),
  second_factor_refused: row(
    401,
    'authentication_error',
    'The code is incorrect or was already used.',
    'The password is correct, and the code is not.',
  ),
  cross_origin: row(
    403,
    'permission_error',
    'Requests from other origins are not allowed.',
    'A write request came from another origin.',
  ),
  forbidden: row(
    403,
    'permission_error',
    'Your role does not allow this.',
    'The person or management token lacks the required permission in this organization or on the platform.',
  ),
  account_disabled: row(
    403,
    'permission_error',
    'This account is disabled. Contact the operator.',
    'An operator disabled the account. Returned only with the right password and code.',
  ),
  confirmation_required: row(
    403,
    'permission_error',
    'Confirm with your password or a code of your authenticator app first.',
    'A sensitive change: `POST /api/session/confirm` first, then repeat the request within five minutes.',
  ),
  second_factor_setup_required: row(
    403,
    'permission_error',
    'Set up two-factor authentication first.',
    'An organization of the person, or the platform for its operators, requires a second factor. Everything but the own account is refused.',
  ),
  not_found: row(
    404,
    'not_found_error',
    'Not found.',
    'No such path or resource, or it belongs to an organization that you are not a member of.',
  ),
  request_timeout: row(
    408,
    'timeout_error',
    'The request did not arrive in time.',
    'The client did not send the whole request in time.',
  ),
  conflict: row(
    409,
    'invalid_request_error',
    'This conflicts with the current state.',
    'The current state does not allow it: the key is revoked, the last owner would be removed, the Idempotency-Key was used with another amount, or the dead letter is being redelivered.',
  ),
  version_conflict: row(
    409,
    'invalid_request_error',
    'Someone else changed this in the meantime.',
    'The version sent is not the current one; `metadata.current` is the current state.',
  ),
  body_too_large: row(
    413,
    'invalid_request_error',
    'The request body is too large.',
    'The body exceeds 100 kB, or 2 MB for a catalogue.',
  ),
  unsupported_media_type: row(
    415,
    'invalid_request_error',
    'Write requests must have the content type application/json.',
    'A write request without the content type `application/json`, or with an unknown content encoding.',
  ),
  unknown_host: row(
    421,
    'invalid_request_error',
    'The dashboard accepts only loopback host names until its public origin is set (GATEWAY_DASHBOARD_ORIGIN).',
    'The Host header is not a loopback name, and no public origin is set.',
  ),
  too_many_attempts: row(
    429,
    'rate_limit_error',
    'Too many attempts. Try again later.',
    'Too many attempts to sign in, or to use a code, a link or a management token, or too many emails; retry after `retry-after` seconds.',
  ),
  headers_too_large: row(
    431,
    'invalid_request_error',
    'The request headers are too large.',
    'The headers exceed 16 kB.',
  ),
  internal: row(
    500,
    'api_error',
    'Something went wrong on our side. The error was logged.',
    "An internal error, logged under the response's `x-request-id`.",
  ),
  unavailable: row(
    503,
    'service_unavailable_error',
    'A service is temporarily unavailable. Try again.',
    'A service did not respond in time. A change may have been made: check before you retry.',
  ),
} as const satisfies Record<string, DashboardErrorRow>;

export type DashboardErrorCode = keyof typeof dashboardErrors;

export interface DashboardErrorRow {
  readonly httpStatus: number;
  readonly type: ErrorType;
  /** Public text, unless the error is raised with a more specific one. */
  readonly message: string;
  /** The cause, for the documentation. */
  readonly when: string;
}

function row(httpStatus: number, type: ErrorType, message: string, when: string): DashboardErrorRow {
  return { httpStatus, type, message, when };
}
