/** What of a request a rule refused: a value that the caller shows to its user. */
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
    | 'not_configured';
  readonly message: string;
  /** The offending field, in the contract's spelling. */
  readonly field?: string;
  /** Where there were too many attempts. */
  readonly retryAfterMs?: number;
}

/** Refusals that say all by their reason; the words are for logs and for callers without words of their own. */
export const refusals = {
  linkNotValid: refusal('link_not_valid', 'This link is not valid any more. Ask for a new one.'),
  notSignedIn: refusal('not_signed_in', 'Sign in first.'),
  wrongPassword: refusal('sign_in_refused', 'The password is wrong.'),
  secondFactorRequired: refusal('second_factor_required', 'Enter the code of your authenticator app.'),
  secondFactorRefused: refusal('second_factor_refused', 'This code is wrong, or was used already.'),
  secretsNotConfigured: refusal(
    'not_configured',
    'No key for secrets is configured (GATEWAY_SECRETS_KEY), so no second factor can be kept.',
  ),
  mailNotConfigured: refusal('not_configured', 'No mail is configured.'),
} as const;

function refusal(reason: AdminRefusal['reason'], message: string): AdminRefusal {
  return { kind: 'refusal', reason, message };
}

export function tooManyAttempts(retryAfterMs: number): AdminRefusal {
  return { ...refusal('too_many_attempts', 'Too many attempts. Wait before trying again.'), retryAfterMs };
}

export function invalid(field: string, message: string): AdminRefusal {
  return { kind: 'refusal', reason: 'invalid', field, message };
}

export function notFound(
  what: 'organization' | 'key' | 'member' | 'session' | 'invitation' | 'domain' | 'identity',
): AdminRefusal {
  return { kind: 'refusal', reason: 'not_found', message: `No such ${what}.` };
}

export function forbidden(): AdminRefusal {
  return { kind: 'refusal', reason: 'forbidden', message: 'Your role does not allow this.' };
}

export function conflict(message: string): AdminRefusal {
  return { kind: 'refusal', reason: 'conflict', message };
}

/** Of two editors the second is told, unless it did not say what it had read. */
export function checkVersion(current: number, expected: number | undefined): AdminRefusal | undefined {
  if (expected === undefined || expected === current) return undefined;
  return {
    kind: 'refusal',
    reason: 'version_conflict',
    message: `Somebody else changed this meanwhile: it is at version ${current}, not ${expected}.`,
  };
}
