import {
  OidcRefusalReason,
  type AuthAdminDefinition,
  type OidcRefused,
  type OrganizationDomain as OrganizationDomainMessage,
} from '@gateway/contracts/auth';
import { isRefusal } from '@gateway/errors';
import { personOf, type RpcHandlers } from '@gateway/rpc';
import type { OrganizationDomain } from '../../core/model';
import type { PeoplePorts } from '../../core/ports';
import type { PeopleMetrics } from '../metrics';
import { refuseUnlessConfirmed } from '../../core/sign-in/confirm-session';
import { mapDomain, unmapDomain } from '../../core/single-sign-on/domains';
import { finishSignOn } from '../../core/single-sign-on/finish-sign-on';
import type { SignOnRefusalReason, SignOnRefused } from '../../core/single-sign-on/sign-on-refusal';
import { startSignOn } from '../../core/single-sign-on/start-sign-on';
import { unlinkIdentity, unlinkOwnIdentity } from '../../core/single-sign-on/unlink-identity';
import { isIdLike } from '@gateway/auth-shared';
import { refusalMessage } from '@gateway/auth-shared/service';
import {
  identityMessage,
  openedSessionMessage,
  organizationRoleMessage,
  organizationRoleOf,
} from '../messages';
import { requireOwn } from './require-own';

type SingleSignOnHandlers = Pick<
  RpcHandlers<typeof AuthAdminDefinition>,
  | 'startOidc'
  | 'finishOidc'
  | 'listOrganizationDomains'
  | 'mapDomain'
  | 'unmapDomain'
  | 'listIdentities'
  | 'unlinkOwnIdentity'
  | 'unlinkIdentity'
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

/** Sign-ins at the identity provider, mapped domains and linked identities. */
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

    async listOrganizationDomains({ organizationId }) {
      const domains = isIdLike(organizationId) ? await ports.domains.list(organizationId) : [];
      return { domains: domains.map(domainMessage) };
    },

    async mapDomain({ organizationId, domain, role }, context) {
      const actor = personOf(context);
      const wanted = { actor, organizationId, domain, role: organizationRoleOf(role) };
      const mapped =
        (await refuseUnlessConfirmed(ports, actor, 'platform:single_sign_on', organizationId)) ??
        (await mapDomain(ports, wanted));
      return isRefusal(mapped)
        ? { outcome: { $case: 'refusal', value: refusalMessage(mapped) } }
        : { outcome: { $case: 'domain', value: domainMessage(mapped) } };
    },

    async unmapDomain({ organizationId, domain }, context) {
      const refusal = await unmapDomain(ports, { actor: personOf(context), organizationId, domain });
      return refusal ? { refusal: refusalMessage(refusal) } : {};
    },

    async listIdentities({ memberId }, context) {
      requireOwn(personOf(context), memberId);
      const identities = isIdLike(memberId) ? await ports.identities.list(memberId) : [];
      return { identities: identities.map(identityMessage) };
    },

    async unlinkOwnIdentity(request, { signal }) {
      const refusal = await unlinkOwnIdentity(ports, request, signal);
      return refusal ? { refusal: refusalMessage(refusal) } : {};
    },

    async unlinkIdentity({ memberId, issuer }, context) {
      const actor = personOf(context);
      const refusal =
        (await refuseUnlessConfirmed(ports, actor, 'platform:people')) ??
        (await unlinkIdentity(ports, { actor, memberId, issuer }, context.signal));
      return refusal ? { refusal: refusalMessage(refusal) } : {};
    },
  };
}

function domainMessage({ domain, role, mappedBy, mappedAt }: OrganizationDomain): OrganizationDomainMessage {
  return { domain, role: organizationRoleMessage(role), mappedBy, mappedUnixMs: BigInt(mappedAt) };
}
