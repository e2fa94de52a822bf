import type { UnixMs } from '@gateway/base';
import { auditOf } from '../audit/audit';
import { canonicalEmail, MAX_PASSWORD_CHARACTERS } from './member-rules';
import type { Member } from '../model';
import type { AuthPorts } from '../ports';
import { forgiveSignIn, throttleSignIn } from './sign-in-throttle';

export interface SignIn {
  readonly email: string;
  readonly password: string;
  readonly ipAddress: string;
}

export type SignInOutcome =
  | {
      readonly kind: 'signed_in';
      /** Shown once; only its hash is stored. */
      readonly sessionToken: string;
      readonly expiresAt: UnixMs;
      readonly member: Member;
    }
  | { readonly kind: 'refused' }
  | { readonly kind: 'too_many_attempts'; readonly retryAfterMs: number };

/**
 * Opens a session of a fixed length. An unknown email takes as long and
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
  { email: requestedEmail, password, ipAddress }: SignIn,
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

  const member: Member = { id: stored.id, email: stored.email, role: stored.role };
  const sessionToken = ports.secrets.random();
  const expiresAt = (now + ports.settings.sessionLifetimeMs) as UnixMs;
  const audit = auditOf(
    {
      actor: { id: member.id, label: member.email, ipAddress },
      action: 'session.create',
      target: member.id,
      details: { expires_at: new Date(expiresAt).toISOString() },
    },
    ports,
  );
  await ports.sessions.insert(ports.secrets.sha256(sessionToken), { member, expiresAt }, now, audit);
  await forgiveSignIn(ports, { email, ipAddress });
  return { kind: 'signed_in', sessionToken, expiresAt, member };
}
