/** Why a rule refused a request. Returned as a value, since the caller shows it to its user. */
export interface AdminRefusal {
  readonly kind: 'refusal';
  readonly reason:
    | 'not_found'
    | 'invalid'
    | 'conflict'
    | 'version_conflict'
    | 'forbidden'
    | 'link_not_valid'
    | 'not_signed_in'
    | 'sign_in_refused'
    | 'second_factor_required'
    | 'second_factor_refused'
    | 'too_many_attempts'
    | 'not_configured'
    | 'account_disabled'
    | 'confirmation_required';
  readonly message: string;
  /** The offending field, in the contract's spelling. */
  readonly field?: string;
  /** With `too_many_attempts`. */
  readonly retryAfterMs?: number;
}

/** Refusals with one fixed message. A client may show its own text for the reason instead. */
export const refusals = {
  linkNotValid: refusal('link_not_valid', 'This link is no longer valid. Request a new one.'),
  notSignedIn: refusal('not_signed_in', 'Sign in first.'),
  wrongPassword: refusal('sign_in_refused', 'The password is incorrect.'),
  secondFactorRequired: refusal('second_factor_required', 'Enter the code from your authenticator app.'),
  secondFactorRefused: refusal('second_factor_refused', 'This code is incorrect or has already been used.'),
  secretsNotConfigured: refusal(
    'not_configured',
    'Two-factor authentication is unavailable: no encryption key is configured (GATEWAY_SECRETS_KEY).',
  ),
  accountDisabled: refusal('account_disabled', 'This account is disabled. Contact the operator.'),
  confirmationRequired: refusal(
    'confirmation_required',
    'Confirm with your password or a code of your authenticator app first.',
  ),
  mailNotConfigured: refusal('not_configured', 'Email delivery is not configured.'),
} as const;

function refusal(reason: AdminRefusal['reason'], message: string): AdminRefusal {
  return { kind: 'refusal', reason, message };
}

export function tooManyAttempts(retryAfterMs: number): AdminRefusal {
  return { ...refusal('too_many_attempts', 'Too many attempts. Try again later.'), retryAfterMs };
}

export function tooManyEmails(retryAfterMs: number): AdminRefusal {
  const minutes = Math.ceil(retryAfterMs / 60_000);
  const message = `Too many emails were sent. Try again in ${minutes} minute${minutes === 1 ? '' : 's'}.`;
  return { ...refusal('too_many_attempts', message), retryAfterMs };
}

export function invalid(field: string, message: string): AdminRefusal {
  return { kind: 'refusal', reason: 'invalid', field, message };
}

export function notFound(
  what:
    | 'organization'
    | 'project'
    | 'key'
    | 'member'
    | 'management token'
    | 'session'
    | 'invitation'
    | 'domain'
    | 'identity',
): AdminRefusal {
  return { kind: 'refusal', reason: 'not_found', message: `No such ${what}.` };
}

export function forbidden(): AdminRefusal {
  return { kind: 'refusal', reason: 'forbidden', message: 'Your role does not allow this.' };
}

export function conflict(message: string): AdminRefusal {
  return { kind: 'refusal', reason: 'conflict', message };
}

/** Optimistic concurrency control. Without an expected version, the last write wins. */
export function checkVersion(current: number, expected: number | undefined): AdminRefusal | undefined {
  if (expected === undefined || expected === current) return undefined;
  return {
    kind: 'refusal',
    reason: 'version_conflict',
    message: `This was changed by another user: it is at version ${current}, not ${expected}.`,
  };
}
