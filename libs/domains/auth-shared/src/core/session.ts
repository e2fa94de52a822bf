import type { UnixMs } from '@gateway/base';

/** An operator may do everything everywhere; a member what the roles in organizations allow. */
export type MemberRole = 'operator' | 'member';

export interface Member {
  readonly id: string;
  readonly email: string;
  readonly role: MemberRole;
}

export type SignInMethod = 'password' | 'oidc';

export interface Session {
  readonly id: string;
  readonly member: Member;
  /** The browser and system that signed in, as they call themselves. */
  readonly device: string;
  /** Where it was last seen. */
  readonly ipAddress: string;
  readonly signedInBy: SignInMethod;
  readonly createdAt: UnixMs;
  /** To the minute. */
  readonly lastSeenAt: UnixMs;
  readonly expiresAt: UnixMs;
}

/** Whatever ends sessions also ends the keys that were made for them, in the same transaction. */
export interface EndedSessions {
  readonly ended: number;
  /** By which edges know that those keys ended; undefined: there were none. */
  readonly sequence: bigint | undefined;
}

/** A session ends at its expiry, however busy, and when it was not seen for too long. */
export function idleExpiryOf({ lastSeenAt, expiresAt }: Session, sessionIdleMs: number): UnixMs {
  return Math.min(lastSeenAt + sessionIdleMs, expiresAt) as UnixMs;
}

export function isRunning(session: Session, now: UnixMs, sessionIdleMs: number): boolean {
  return idleExpiryOf(session, sessionIdleMs) > now;
}
