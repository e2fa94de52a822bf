import type { ErrorType } from '@gateway/errors';

/** Every error that this API answers with. Statuses and public texts are columns of this table. */
export const dashboardErrors = {
  invalid: row(
    400,
    'invalid_request_error',
    'The request is not valid.',
    'A field is missing, unknown, of the wrong kind, or breaks a rule.',
  ),
  malformed: row(400, 'invalid_request_error', 'This is not a valid HTTP request.', 'What came is not HTTP.'),
  invalid_json: row(
    400,
    'invalid_request_error',
    'The request body is not valid JSON.',
    'The body is not a JSON object or array.',
  ),
  link_not_valid: row(
    400,
    'invalid_request_error',
    'This link is not valid any more. Ask for a new one.',
    'The token of an invitation or of a password reset is unknown, used, revoked or expired.',
  ),
  not_signed_in: row(401, 'authentication_error', 'Sign in first.', 'No session, or it has ended.'),
  sign_in_refused: row(
    401,
    'authentication_error',
    'The email or the password is wrong.',
    'Wrong email or password.',
  ),
  second_factor_required: row(
    401,
    'authentication_error',
    'Enter the code of your authenticator app.',
    'The password is right, and this account needs a code too.',
  ),
  second_factor_refused: row(
    401,
    'authentication_error',
    'This code is wrong, or was used already.',
    'The password is right, and the code is not.',
  ),
  cross_origin: row(
    403,
    'permission_error',
    'Requests from other origins are refused.',
    'A change was asked for from another origin.',
  ),
  forbidden: row(
    403,
    'permission_error',
    'Your role does not allow this.',
    'Signed in, but the role in this organization does not allow it, or it is for operators.',
  ),
  not_found: row(
    404,
    'not_found_error',
    'This does not exist.',
    'No such path or thing; also what belongs to an organization that is not yours.',
  ),
  request_timeout: row(
    408,
    'timeout_error',
    'The request did not arrive in time.',
    'The request did not arrive in time.',
  ),
  conflict: row(
    409,
    'invalid_request_error',
    'This conflicts with what is there.',
    'What is there does not allow it: the key is revoked, the last owner would go, the Idempotency-Key was used with another amount, the dead letter is being redelivered.',
  ),
  version_conflict: row(
    409,
    'invalid_request_error',
    'Somebody else changed this meanwhile.',
    'The version that was sent is not the current one; `metadata.current` is what is there now.',
  ),
  body_too_large: row(
    413,
    'invalid_request_error',
    'The request body is too large.',
    'The body is over 100 kB.',
  ),
  unsupported_media_type: row(
    415,
    'invalid_request_error',
    'Requests that change something must have the content type application/json.',
    'A change without the content type `application/json`, or an unknown encoding.',
  ),
  unknown_host: row(
    421,
    'invalid_request_error',
    'The dashboard answers on this machine only, until its public origin is set (GATEWAY_DASHBOARD_ORIGIN).',
    "Asked for under a name other than this machine's own, while no public origin is set.",
  ),
  too_many_attempts: row(
    429,
    'rate_limit_error',
    'Too many attempts. Wait before trying again.',
    'Too many attempts to sign in, or to use a code or a link; wait `retry-after` seconds.',
  ),
  headers_too_large: row(
    431,
    'invalid_request_error',
    'The request headers are too large.',
    'The headers are over 16 kB.',
  ),
  internal: row(
    500,
    'api_error',
    'Something failed on our side. The failure was recorded.',
    "Our fault; recorded under the answer's `x-request-id`.",
  ),
  unavailable: row(
    503,
    'service_unavailable_error',
    'A service cannot be reached right now. Try again.',
    'Something did not answer in time. A change may have been made: look before trying again.',
  ),
} as const satisfies Record<string, DashboardErrorRow>;

export type DashboardErrorCode = keyof typeof dashboardErrors;

export interface DashboardErrorRow {
  readonly httpStatus: number;
  readonly type: ErrorType;
  /** Public text, where the place that raises the error has nothing more precise to say. */
  readonly message: string;
  /** When it happens, for the documentation. */
  readonly when: string;
}

function row(httpStatus: number, type: ErrorType, message: string, when: string): DashboardErrorRow {
  return { httpStatus, type, message, when };
}
