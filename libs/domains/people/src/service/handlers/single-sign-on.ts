import { OidcRefusalReason, type AuthAdminDefinition, type OidcRefused } from '@gateway/contracts/auth';
import type { RpcHandlers } from '@gateway/rpc';
import type { PeoplePorts } from '../../core/ports';
import type { PeopleMetrics } from '../metrics';
import { finishSignOn } from '../../core/single-sign-on/finish-sign-on';
import type { SignOnRefusalReason, SignOnRefused } from '../../core/single-sign-on/sign-on-refusal';
import { startSignOn } from '../../core/single-sign-on/start-sign-on';
import { unlinkOwnIdentity } from '../../core/single-sign-on/unlink-identity';
import { refusalMessage } from '@gateway/auth-shared/service';
import { openedSessionMessage } from '../messages';

type SingleSignOnHandlers = Pick<
  RpcHandlers<typeof AuthAdminDefinition>,
  'startOidc' | 'finishOidc' | 'unlinkOwnIdentity'
>;

const MESSAGE_OF_REASON: Readonly<Record<SignOnRefusalReason, OidcRefusalReason>> = {
  not_configured: OidcRefusalReason.OIDC_REFUSAL_REASON_NOT_CONFIGURED,
  too_many_attempts: OidcRefusalReason.OIDC_REFUSAL_REASON_TOO_MANY_ATTEMPTS,
  unavailable: OidcRefusalReason.OIDC_REFUSAL_REASON_UNAVAILABLE,
  state_invalid: OidcRefusalReason.OIDC_REFUSAL_REASON_STATE_INVALID,
  denied: OidcRefusalReason.OIDC_REFUSAL_REASON_DENIED,
  failed: OidcRefusalReason.OIDC_REFUSAL_REASON_FAILED,
  email_not_verified: OidcRefusalReason.OIDC_REFUSAL_REASON_EMAIL_NOT_VERIFIED,
  domain_not_mapped: OidcRefusalReason.OIDC_REFUSAL_REASON_DOMAIN_NOT_MAPPED,
  identity_mismatch: OidcRefusalReason.OIDC_REFUSAL_REASON_IDENTITY_MISMATCH,
  account_disabled: OidcRefusalReason.OIDC_REFUSAL_REASON_ACCOUNT_DISABLED,
};

/** Sign-ins at the identity provider, and the member's own linked identities. */
export function createSingleSignOnHandlers(
  ports: PeoplePorts,
  { countSignOn }: PeopleMetrics,
): SingleSignOnHandlers {
  function refused({ reason, detail }: SignOnRefused): { $case: 'refused'; value: OidcRefused } {
    countSignOn(reason);
    return { $case: 'refused', value: { reason: MESSAGE_OF_REASON[reason], detail } };
  }

  return {
    async startOidc({ sessionToken, ...request }) {
      const started = await startSignOn(ports, {
        ...request,
        ...(sessionToken === undefined ? {} : { sessionToken }),
      });
      if (started.kind === 'refused') return { outcome: refused(started) };
      const { authorizationUrl, state, browserToken, expiresAt } = started;
      const value = { authorizationUrl, state, browserToken, expiresUnixMs: BigInt(expiresAt) };
      return { outcome: { $case: 'started', value } };
    },

    async finishOidc(request) {
      const finished = await finishSignOn(ports, request);
      if (finished.kind === 'refused') return { outcome: refused(finished) };
      countSignOn('signed_on');
      const value = { signedIn: openedSessionMessage(finished), returnTo: finished.returnTo };
      return { outcome: { $case: 'signedIn', value } };
    },

    async unlinkOwnIdentity(request, { signal }) {
      const refusal = await unlinkOwnIdentity(ports, request, signal);
      return refusal ? { refusal: refusalMessage(refusal) } : {};
    },
  };
}
