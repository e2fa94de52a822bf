import { pageRequest, pageView } from '@gateway/admin-calls';
import { AdminRefusalReason, type SignInRefused } from '@gateway/contracts/auth';
import { DashboardError, EDGE_CHANGE_TIMEOUT_MS, endpoints } from '@gateway/dashboard-contract';
import { implement, type Implementation } from '../http/implement';
import { createSessionCookies, deviceOf, sessionTokenOf } from '../http/session-cookie';
import { throwIfRefused } from '../messages/errors';
import { sessionStateView, sessionView } from '../messages/people-views';
import type { DashboardApiPorts } from '../ports';

/** Password hashing is slow and may be queued. */
const SIGN_IN_TIMEOUT_MS = 15_000;
/** Ending a session revokes its playground keys, which every edge must apply. */
const ENDS_KEYS = { timeoutMs: EDGE_CHANGE_TIMEOUT_MS };

export function createSessionHandlers({ authAdmin, settings }: DashboardApiPorts): readonly Implementation[] {
  const { session } = endpoints;
  const cookies = createSessionCookies(settings);
  const stateOf = async (sessionToken: string) =>
    sessionStateView(await authAdmin.getSession({ sessionToken }));

  return [
    implement(session.signInOptions, async () => {
      const { sendsMail, oidcLabel } = await authAdmin.getSignInOptions({});
      const oidc = oidcLabel === undefined ? null : { label: oidcLabel, start_path: session.startOidc.path };
      return { oidc, password_reset_by_email: sendsMail };
    }),

    implement(session.signIn, async ({ body: { email, password, code }, address, request, response }) => {
      const { outcome } = await authAdmin.signIn(
        { email, password, code, ipAddress: address, device: deviceOf(request) },
        { timeoutMs: SIGN_IN_TIMEOUT_MS },
      );
      if (outcome?.$case !== 'signedIn') throw refusedSignIn(outcome?.value);
      const state = await stateOf(outcome.value.sessionToken);
      // Ends the session of an existing cookie, which protects against session fixation.
      const earlier = sessionTokenOf(request, settings);
      if (earlier !== undefined) await authAdmin.signOut({ sessionToken: earlier });
      cookies.set(response, outcome.value);
      return state;
    }),

    implement(session.current, async ({ signedIn }) => stateOf(signedIn.sessionToken)),

    implement(session.signOut, async ({ signedIn, response }) => {
      await authAdmin.signOut({ sessionToken: signedIn.sessionToken }, ENDS_KEYS);
      cookies.clear(response);
      return undefined;
    }),

    implement(session.confirm, async ({ body, signedIn: { sessionToken }, address: ipAddress }) => {
      const { refusal } = await authAdmin.confirmSession(
        { sessionToken, ipAddress, ...body },
        { timeoutMs: SIGN_IN_TIMEOUT_MS },
      );
      throwIfRefused(refusal);
      return undefined;
    }),

    implement(session.list, async ({ signedIn, query }) => {
      const memberId = signedIn.member.id;
      const { sessions, nextPageToken } = await authAdmin.listSessions({ memberId, ...pageRequest(query) });
      return pageView(
        sessions.map((listed) => sessionView(listed, signedIn.session.id)),
        nextPageToken,
      );
    }),

    implement(session.end, async ({ params, signedIn, response }) => {
      const { refusal } = await authAdmin.endSession({ sessionId: params.session_id }, ENDS_KEYS);
      throwIfRefused(refusal);
      if (params.session_id === signedIn.session.id) cookies.clear(response);
      return undefined;
    }),

    implement(session.endOthers, async ({ signedIn }) => {
      const current = { keptSessionId: signedIn.session.id };
      const { ended } = await authAdmin.endOtherSessions(current, ENDS_KEYS);
      return { ended };
    }),
  ];
}

function refusedSignIn(refused: SignInRefused | undefined): DashboardError {
  if (refused?.retryAfterMs !== undefined)
    return new DashboardError('too_many_attempts', { retryAfterMs: refused.retryAfterMs });
  switch (refused?.reason) {
    case AdminRefusalReason.ADMIN_REFUSAL_REASON_SECOND_FACTOR_REQUIRED:
      return new DashboardError('second_factor_required');
    case AdminRefusalReason.ADMIN_REFUSAL_REASON_ACCOUNT_DISABLED:
      return new DashboardError('account_disabled');
    case AdminRefusalReason.ADMIN_REFUSAL_REASON_SECOND_FACTOR_REFUSED:
      return new DashboardError('second_factor_refused');
    default:
      return new DashboardError('sign_in_refused');
  }
}
