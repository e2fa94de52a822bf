import { endpoints } from '@gateway/dashboard-contract';
import { DashboardError } from '../dashboard-error';
import { implement, type Implementation } from '../http/implement';
import { clearedSessionCookie, sessionCookie, sessionTokenOf } from '../http/session-cookie';
import { acceptedUnless } from '../messages/errors';
import { sessionStateView, sessionView } from '../messages/people-views';
import { pageRequest, pageView } from '../messages/views';
import type { DashboardApiPorts } from '../ports';

/** Hashing a password takes its time, and others may be waiting. */
const SIGN_IN_TIMEOUT_MS = 15_000;

export function createSessionHandlers({ authAdmin, settings }: DashboardApiPorts): readonly Implementation[] {
  const { session } = endpoints;
  const secure = settings.publicOrigin?.startsWith('https://') ?? false;
  const stateOf = async (sessionToken: string) =>
    sessionStateView(await authAdmin.getSession({ sessionToken }));

  return [
    implement(session.signIn, async ({ body: { email, password }, address, request, response }) => {
      const { outcome } = await authAdmin.signIn(
        { email, password, ipAddress: address, device: request.get('user-agent') ?? '' },
        { timeoutMs: SIGN_IN_TIMEOUT_MS },
      );
      if (outcome?.$case !== 'signedIn') {
        const retryAfterMs = outcome?.value.retryAfterMs;
        if (retryAfterMs === undefined) throw new DashboardError('sign_in_refused');
        throw new DashboardError('too_many_attempts', { retryAfterMs });
      }
      const { sessionToken, expiresUnixMs } = outcome.value;
      const state = await stateOf(sessionToken);
      // What was there before the sign-in ends with it, whoever has put it there.
      const earlier = sessionTokenOf(request);
      if (earlier !== undefined) await authAdmin.signOut({ sessionToken: earlier });
      response.setHeader('set-cookie', sessionCookie(sessionToken, expiresUnixMs, secure));
      return state;
    }),

    implement(session.current, async ({ signedIn }) => stateOf(signedIn.sessionToken)),

    implement(session.signOut, async ({ signedIn, response }) => {
      await authAdmin.signOut({ sessionToken: signedIn.sessionToken });
      response.setHeader('set-cookie', clearedSessionCookie(secure));
      return undefined;
    }),

    implement(session.list, async ({ signedIn, query }) => {
      const memberId = signedIn.member.id;
      const { sessions, nextPageToken } = await authAdmin.listSessions({ memberId, ...pageRequest(query) });
      return pageView(
        sessions.map((one) => sessionView(one, signedIn.session.id)),
        nextPageToken,
      );
    }),

    implement(session.end, async ({ params, actor, signedIn, response }) => {
      const { refusal } = await authAdmin.endSession({ actor, sessionId: params.session_id });
      acceptedUnless(refusal);
      if (params.session_id === signedIn.session.id)
        response.setHeader('set-cookie', clearedSessionCookie(secure));
      return undefined;
    }),

    implement(session.endOthers, async ({ actor, signedIn }) => {
      const { ended } = await authAdmin.endOtherSessions({ actor, keptSessionId: signedIn.session.id });
      return { ended };
    }),
  ];
}
