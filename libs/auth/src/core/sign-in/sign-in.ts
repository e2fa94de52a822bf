import { canonicalEmail, MAX_PASSWORD_CHARACTERS } from './member-rules';
import type { AuthPorts } from '../ports';
import { openSession, type OpenedSession } from './sessions';
import { forgiveSignIn, throttleSignIn } from './sign-in-throttle';

export interface SignIn {
  readonly email: string;
  readonly password: string;
  readonly ipAddress: string;
  /** As the browser calls itself. */
  readonly device: string;
}

export type SignInOutcome =
  | ({ readonly kind: 'signed_in' } & OpenedSession)
  | { readonly kind: 'refused' }
  | { readonly kind: 'too_many_attempts'; readonly retryAfterMs: number };

/**
 * Opens a session. An unknown email takes as long and
 * answers as a wrong password does, so that nobody learns who is a member.
 */
export async function signIn(
  ports: Pick<
    AuthPorts,
    | 'members'
    | 'sessions'
    | 'attempts'
    | 'passwords'
    | 'secrets'
    | 'addressRanges'
    | 'clock'
    | 'newId'
    | 'settings'
  >,
  { email: requestedEmail, password, ipAddress, device }: SignIn,
): Promise<SignInOutcome> {
  const now = ports.clock.now();
  const email = canonicalEmail(requestedEmail) ?? '';
  const retryAfterMs = await throttleSignIn(ports, { email, ipAddress }, now);
  if (retryAfterMs !== undefined) return { kind: 'too_many_attempts', retryAfterMs };

  const stored = email === '' ? undefined : await ports.members.findByEmail(email);
  const matches = await ports.passwords.verify(
    password.slice(0, MAX_PASSWORD_CHARACTERS),
    password.length > MAX_PASSWORD_CHARACTERS ? undefined : stored?.passwordHash,
  );
  if (!stored || !matches) return { kind: 'refused' };

  const opened = await openSession(ports, { member: stored, ipAddress, device, signedInBy: 'password' });
  await forgiveSignIn(ports, { email, ipAddress });
  return { kind: 'signed_in', ...opened };
}
