import {
  AdminRefusalReason,
  type AuthAdminDefinition,
  type AuthorizeResponse,
  type SignInResponse,
} from '@gateway/contracts/auth';
import { personOf, type RpcHandlers } from '@gateway/rpc';
import { needsSecondFactorSetup } from '../../core/access/second-factor-setup';
import { confirmSession, isConfirmed } from '../../core/sign-in/confirm-session';
import { authorize, readPermission } from '../../core/access/authorize';
import { platformPermissions } from '@gateway/base';
import { readPage, isSessionActive, isIdLike } from '@gateway/auth-shared';
import type { PeoplePorts } from '../../core/ports';
import type { PeopleMetrics } from '../metrics';
import { endOtherSessions, endSession, findSession, signOut } from '../../core/sign-in/sessions';
import { hasSecondFactor } from '../../core/sign-in/second-factor';
import { signIn } from '../../core/sign-in/sign-in';
import { refusalMessage } from '@gateway/auth-shared/service';
import {
  memberMessage,
  membershipMessage,
  openedSessionMessage,
  organizationRoleMessage,
  sessionMessage,
} from '../messages';
import { requireOwn } from './require-own';

type SessionHandlers = Pick<
  RpcHandlers<typeof AuthAdminDefinition>,
  | 'authorize'
  | 'signIn'
  | 'getSignInOptions'
  | 'getSession'
  | 'signOut'
  | 'listSessions'
  | 'endSession'
  | 'endOtherSessions'
  | 'confirmSession'
>;

/** Sign-in, sessions and authorization. */
export function createSessionHandlers(ports: PeoplePorts, { signIns }: PeopleMetrics): SessionHandlers {
  const { sessionIdleMs } = ports.settings;
  return {
    async authorize({ permission, organizationId, confirmed, ...request }) {
      const right = { permission: readPermission(permission), organizationId };
      const outcome = await authorize(ports, { ...request, ...right });
      switch (outcome.kind) {
        case 'allowed': {
          const { session, organizationRole } = outcome;
          if (confirmed && !(await isConfirmed(ports, session.id, session.member.id)))
            return denied({ $case: 'confirmationRequired', value: {} });
          return {
            outcome: { $case: 'allowed', value: sessionMessage(session, sessionIdleMs) },
            organizationRole: organizationRole && organizationRoleMessage(organizationRole),
          };
        }
        case 'not_signed_in':
          return denied({ $case: 'notSignedIn', value: {} });
        case 'forbidden':
          return denied({ $case: 'forbidden', value: {} });
        case 'no_such_organization':
          return denied({ $case: 'noSuchOrganization', value: {} });
        case 'second_factor_setup_required':
          return denied({ $case: 'secondFactorSetupRequired', value: {} });
      }
    },

    async getSignInOptions() {
      return { sendsMail: ports.mailer !== undefined, oidcLabel: ports.identityProvider?.label };
    },

    async signIn({ code, ...request }) {
      const outcome = await signIn(ports, { ...request, ...(code === undefined ? {} : { code }) });
      signIns[outcome.kind].inc();
      switch (outcome.kind) {
        case 'signed_in':
          return { outcome: { $case: 'signedIn', value: openedSessionMessage(outcome) } };
        case 'refused':
          return refused(AdminRefusalReason.ADMIN_REFUSAL_REASON_SIGN_IN_REFUSED);
        case 'account_disabled':
          return refused(AdminRefusalReason.ADMIN_REFUSAL_REASON_ACCOUNT_DISABLED);
        case 'second_factor_required':
          return refused(AdminRefusalReason.ADMIN_REFUSAL_REASON_SECOND_FACTOR_REQUIRED);
        case 'second_factor_refused':
          return refused(AdminRefusalReason.ADMIN_REFUSAL_REASON_SECOND_FACTOR_REFUSED);
        case 'too_many_attempts':
          return refused(AdminRefusalReason.ADMIN_REFUSAL_REASON_TOO_MANY_ATTEMPTS, outcome.retryAfterMs);
      }
    },

    async getSession({ sessionToken }) {
      const session = await findSession(ports, sessionToken);
      if (!session) return NO_SESSION;
      const [memberships, member] = await Promise.all([
        ports.memberships.listOf(session.member.id),
        ports.members.find(session.member.id),
      ]);
      return {
        member: memberMessage(session.member),
        expiresUnixMs: BigInt(session.expiresAt),
        session: sessionMessage(session, sessionIdleMs),
        memberships: memberships.map(membershipMessage),
        platformPermissions: [...platformPermissions(session.member.role)],
        secondFactor: member !== undefined && hasSecondFactor(member),
        hasPassword: member?.passwordHash !== undefined,
        secondFactorSetupRequired: await needsSecondFactorSetup(ports, session),
      };
    },

    async signOut({ sessionToken }, { signal }) {
      await signOut(ports, sessionToken, signal);
      return {};
    },

    async confirmSession(request) {
      const refusal = await confirmSession(ports, request);
      return refusal ? { refusal: refusalMessage(refusal) } : {};
    },

    async listSessions({ memberId, pageSize, pageToken }, context) {
      requireOwn(personOf(context), memberId);
      const page = await readPage(pageSize, pageToken, async (request) =>
        isIdLike(memberId) ? ports.sessions.list(memberId, request) : [],
      );
      const now = ports.clock.now();
      const active = page.items.filter((session) => isSessionActive(session, now, sessionIdleMs));
      return {
        sessions: active.map((session) => sessionMessage(session, sessionIdleMs)),
        nextPageToken: page.nextPageToken,
      };
    },

    async endSession({ sessionId }, context) {
      const refusal = await endSession(ports, { actor: personOf(context), sessionId }, context.signal);
      return refusal ? { refusal: refusalMessage(refusal) } : {};
    },

    async endOtherSessions({ keptSessionId }, context) {
      const request = { actor: personOf(context), keptSessionId };
      return { ended: await endOtherSessions(ports, request, context.signal) };
    },
  };
}

function denied(outcome: AuthorizeResponse['outcome']): AuthorizeResponse {
  return { outcome, organizationRole: undefined };
}

function refused(reason: AdminRefusalReason, retryAfterMs?: number): SignInResponse {
  return { outcome: { $case: 'refused', value: { reason, retryAfterMs } } };
}

const NO_SESSION = {
  expiresUnixMs: 0n,
  memberships: [],
  platformPermissions: [],
  secondFactor: false,
  hasPassword: false,
  secondFactorSetupRequired: false,
};
