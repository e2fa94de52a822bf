import type { AdminRefusal } from '@gateway/auth-shared';
import { canonicalEmail } from './member-rules';
import type { PeoplePorts } from '../ports';
import { refuseSecondFactor } from './second-factor';
import { openSession, type OpenedSession } from './sessions';
import { auditRefusedSignIn } from './audit-refused-sign-in';
import { resetSignInAttempts, throttleSignIn } from './sign-in-throttle';
import { verifyPassword } from './verify-password';

export interface SignIn {
  readonly email: string;
  readonly password: string;
  readonly ipAddress: string;
  /** The User-Agent header. */
  readonly device: string;
  /** A code of the authenticator app, or a recovery code. */
  readonly code?: string | undefined;
}

export type SignInOutcome =
  | ({ readonly kind: 'signed_in' } & OpenedSession)
  | { readonly kind: 'refused' | 'account_disabled' }
  | { readonly kind: 'second_factor_required' | 'second_factor_refused' }
  | { readonly kind: 'too_many_attempts'; readonly retryAfterMs: number };

/**
 * Opens a session. An unknown email takes the same time and returns the same
 * outcome as a wrong password, so that it does not reveal who is a member.
 */
export async function signIn(
  ports: Pick<
    PeoplePorts,
    | 'members'
    | 'sessions'
    | 'attempts'
    | 'passwords'
    | 'secrets'
    | 'addressRanges'
    | 'secondFactors'
    | 'totp'
    | 'cipher'
    | 'clock'
    | 'newId'
    | 'settings'
    | 'auditLog'
  >,
  { email: requestedEmail, password, ipAddress, device, code }: SignIn,
): Promise<SignInOutcome> {
  const now = ports.clock.now();
  const email = canonicalEmail(requestedEmail) ?? '';
  const wait = await throttleSignIn(ports, { email, ipAddress }, now);
  if (wait) {
    // Further ones in this window are only counted.
    if (wait.isFirst)
      await auditRefusedSignIn(ports, { member: undefined, ipAddress, reason: 'too_many_attempts' });
    return { kind: 'too_many_attempts', retryAfterMs: wait.retryAfterMs };
  }

  const stored = email === '' ? undefined : await ports.members.findByEmail(email);
  const matches = await verifyPassword(ports, password, stored?.passwordHash);
  if (!stored || !matches) {
    await auditRefusedSignIn(ports, { member: stored, ipAddress, reason: 'wrong_password' });
    return { kind: 'refused' };
  }

  const refusal = await refuseSecondFactor(ports, stored, code);
  if (refusal) {
    if (refusal.reason === 'second_factor_refused')
      await auditRefusedSignIn(ports, { member: stored, ipAddress, reason: 'wrong_code' });
    return outcomeOf(refusal);
  }
  // Only to a person with password and code: it reveals that the account exists.
  if (stored.disabled) {
    await auditRefusedSignIn(ports, { member: stored, ipAddress, reason: 'account_disabled' });
    return { kind: 'account_disabled' };
  }

  const opened = await openSession(ports, { member: stored, ipAddress, device, signedInBy: 'password' });
  if (!opened) return { kind: 'refused' };
  await resetSignInAttempts(ports, { email, ipAddress });
  return { kind: 'signed_in', ...opened };
}

function outcomeOf({ reason, retryAfterMs }: AdminRefusal): SignInOutcome {
  if (retryAfterMs !== undefined) return { kind: 'too_many_attempts', retryAfterMs };
  return { kind: reason === 'second_factor_required' ? reason : 'second_factor_refused' };
}
