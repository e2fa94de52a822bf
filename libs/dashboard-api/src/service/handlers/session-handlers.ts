import type { Member } from '@gateway/contracts/auth';
import { endpoints } from '@gateway/dashboard-contract';
import { DashboardError } from '../dashboard-error';
import { implement, type Implementation } from '../http/implement';
import { clearedSessionCookie, sessionCookie } from '../http/session-cookie';
import { isoTime, memberView } from '../messages/views';
import type { DashboardApiPorts } from '../ports';

/** Hashing a password takes its time, and others may be waiting. */
const SIGN_IN_TIMEOUT_MS = 15_000;

export function createSessionHandlers({ authAdmin, settings }: DashboardApiPorts): readonly Implementation[] {
  const { session } = endpoints;
  const secure = settings.publicOrigin?.startsWith('https://') ?? false;
  return [
    implement(session.signIn, async ({ body: { email, password }, address, response }) => {
      const { outcome } = await authAdmin.signIn(
        { email, password, ipAddress: address },
        { timeoutMs: SIGN_IN_TIMEOUT_MS },
      );
      if (outcome?.$case !== 'signedIn' || !outcome.value.member) {
        const retryAfterMs = outcome?.$case === 'refused' ? outcome.value.retryAfterMs : undefined;
        if (retryAfterMs === undefined) throw new DashboardError('sign_in_refused');
        throw new DashboardError('too_many_attempts', { retryAfterMs });
      }
      const { sessionToken, expiresUnixMs, member } = outcome.value;
      response.setHeader('set-cookie', sessionCookie(sessionToken, expiresUnixMs, secure));
      return sessionView(member, expiresUnixMs);
    }),

    implement(session.current, async ({ signedIn }) => sessionView(signedIn.member, signedIn.expiresUnixMs)),

    implement(session.signOut, async ({ signedIn, response }) => {
      await authAdmin.signOut({ sessionToken: signedIn.sessionToken });
      response.setHeader('set-cookie', clearedSessionCookie(secure));
      return undefined;
    }),
  ];
}

function sessionView(member: Member, expiresUnixMs: bigint) {
  return {
    member: memberView(member),
    expires_at: isoTime(expiresUnixMs),
    idle_expires_at: isoTime(expiresUnixMs),
    memberships: [],
    permissions: [],
    signed_in_by: 'password',
    second_factor: false,
    has_password: true,
  } as const;
}
