import type { MemberRole, UnixMs } from '@gateway/base';

export type { MemberRole };

export interface Member {
  readonly id: string;
  readonly email: string;
  /** Empty: not given. */
  readonly name: string;
  readonly role: MemberRole;
}

export type SignInMethod = 'password' | 'oidc';

export interface Session {
  readonly id: string;
  readonly member: Member;
  /** The browser and operating system that signed in, from the User-Agent header. */
  readonly device: string;
  /** The address of its last request. */
  readonly ipAddress: string;
  readonly signedInBy: SignInMethod;
  readonly createdAt: UnixMs;
  /** Accurate to one minute. */
  readonly lastSeenAt: UnixMs;
  readonly expiresAt: UnixMs;
  /** When the person last entered a password or code, or signed in at the identity provider. */
  readonly confirmedAt: UnixMs;
}

/** The result of ending sessions, which revokes their session keys in the same transaction. */
export interface EndedSessions {
  readonly ended: number;
  /** The invalidation of the revoked keys; undefined when there were none. */
  readonly sequence: bigint | undefined;
}

/** When the session ends if it stays idle; never after its expiry. */
export function idleExpiryOf({ lastSeenAt, expiresAt }: Session, sessionIdleMs: number): UnixMs {
  return Math.min(lastSeenAt + sessionIdleMs, expiresAt) as UnixMs;
}

export function isSessionActive(session: Session, now: UnixMs, sessionIdleMs: number): boolean {
  return idleExpiryOf(session, sessionIdleMs) > now;
}
