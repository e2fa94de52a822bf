import { implement, isoTime, type Implementation } from '@gateway/admin-calls';
import { accepted } from '@gateway/auth-shared/service';
import { DashboardError, endpoints, parts, type SignInErrorCode } from '@gateway/dashboard-contract';
import { acceptInvitation } from '../core/people/accept-invitation';
import { lookUpInvitation } from '../core/people/invitations';
import type { PeoplePorts } from '../core/ports';
import { requestPasswordReset, resetPassword } from '../core/sign-in/password-reset';
import { signOut } from '../core/sign-in/sessions';
import { signIn } from '../core/sign-in/sign-in';
import { finishSignOn } from '../core/single-sign-on/finish-sign-on';
import type { SignOnRefusalReason, SignOnRefused } from '../core/single-sign-on/sign-on-refusal';
import { startSignOn } from '../core/single-sign-on/start-sign-on';
import type { PeopleMetrics } from './metrics';
import { openedSessionView, openedWithStateView } from './session-views';

const { session } = endpoints;

/** Everything that opens a session, and what people without one may do. */
export function createSignInEndpoints(
  ports: PeoplePorts,
  { signIns, countSignOn }: PeopleMetrics,
): readonly Implementation[] {
  function refused(refusal: SignOnRefused) {
    const { reason, detail } = refusal;
    countSignOn(reason);
    if (reason === 'not_configured')
      throw new DashboardError('not_found', { message: 'Single sign-on is not configured.' });
    return { kind: 'refused' as const, error: SIGN_IN_ERRORS[reason], detail };
  }

  return [
    implement(session.signInOptions, async () => {
      const label = ports.identityProvider?.label;
      return {
        oidc: label === undefined ? null : { label, start_path: session.startOidc.path },
        password_reset_by_email: ports.mailer !== undefined,
        operator_contact: ports.settings.operatorContact ?? null,
      };
    }),

    implement(parts.signIn, async ({ body, client: { ipAddress, device }, signal }) => {
      const { email, password, code, earlier_session_token: earlier } = body;
      const outcome = await signIn(ports, { email, password, code, ipAddress, device });
      signIns[outcome.kind].inc();
      if (outcome.kind === 'refused') throw new DashboardError('sign_in_refused');
      if (outcome.kind === 'too_many_attempts')
        throw new DashboardError(outcome.kind, { retryAfterMs: outcome.retryAfterMs });
      if (outcome.kind !== 'signed_in') throw new DashboardError(outcome.kind);
      // Ends the session of an existing cookie, which protects against session fixation.
      if (earlier !== undefined) await signOut(ports, earlier, signal);
      return openedWithStateView(ports, outcome);
    }),

    implement(parts.startOidc, async ({ body, client: { ipAddress, dashboardUrl } }) => {
      const { return_to: returnTo, session_token: sessionToken } = body;
      const started = await startSignOn(ports, { returnTo, sessionToken, ipAddress, dashboardUrl });
      if (started.kind === 'refused') return refused(started);
      return {
        kind: started.kind,
        authorization_url: started.authorizationUrl,
        state: started.state,
        browser_token: started.browserToken,
        expires_at: isoTime(started.expiresAt),
      };
    }),

    implement(parts.finishOidc, async ({ body, client: { ipAddress, device } }) => {
      const { callback_query: callbackQuery, browser_token: browserToken } = body;
      const finished = await finishSignOn(ports, { callbackQuery, browserToken, ipAddress, device });
      if (finished.kind === 'refused') return refused(finished);
      countSignOn('signed_on');
      return { kind: finished.kind, ...openedSessionView(finished), return_to: finished.returnTo };
    }),

    implement(session.invitation, async ({ body: { token = '' }, client: { ipAddress } }) => {
      const found = accepted(await lookUpInvitation(ports, { token, ipAddress }));
      const { invitation, organizationName, hasAccount } = found;
      return {
        organization: { name: organizationName },
        email: invitation.email,
        role: invitation.role,
        expires_at: isoTime(invitation.expiresAt),
        has_account: hasAccount,
      };
    }),

    implement(parts.acceptInvitation, async ({ body, client: { ipAddress, device } }) => {
      const { token = '', password, name, session_token: sessionToken } = body;
      const acceptance = { token, password, name, sessionToken, ipAddress, device };
      return openedWithStateView(ports, accepted(await acceptInvitation(ports, acceptance)));
    }),

    implement(session.requestPasswordReset, async ({ body: { email }, client }) =>
      accepted(await requestPasswordReset(ports, { email, ...client })),
    ),

    implement(session.resetPassword, async ({ body: { token, password }, client: { ipAddress }, signal }) =>
      accepted(await resetPassword(ports, { token, password, ipAddress }, signal)),
    ),
  ];
}

const SIGN_IN_ERRORS: Readonly<Record<Exclude<SignOnRefusalReason, 'not_configured'>, SignInErrorCode>> = {
  too_many_attempts: 'too_many_attempts',
  unavailable: 'oidc_unavailable',
  state_invalid: 'oidc_state_invalid',
  denied: 'oidc_denied',
  failed: 'oidc_failed',
  email_not_verified: 'oidc_email_not_verified',
  domain_not_mapped: 'oidc_no_organization',
  identity_mismatch: 'oidc_identity_mismatch',
  account_disabled: 'account_disabled',
};
