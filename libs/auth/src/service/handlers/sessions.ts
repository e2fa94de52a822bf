import type { AuthAdminDefinition } from '@gateway/contracts/auth';
import type { RpcHandlers } from '@gateway/rpc';
import { authorize } from '../../core/access/authorize';
import { platformPermissions } from '../../core/access/permissions';
import { readPage } from '../../core/paging';
import type { AuthPorts } from '../../core/ports';
import { endOtherSessions, endSession, getSession, isRunning, signOut } from '../../core/sign-in/sessions';
import { signIn } from '../../core/sign-in/sign-in';
import { isIdLike } from '../../core/text-rules';
import { actorOf, refusalMessage } from '../messages';
import type { AuthMetrics } from '../metrics';
import { memberMessage, membershipMessage, sessionMessage } from '../people-messages';

type SessionHandlers = Pick<
  RpcHandlers<typeof AuthAdminDefinition>,
  'authorize' | 'signIn' | 'getSession' | 'signOut' | 'listSessions' | 'endSession' | 'endOtherSessions'
>;

/** Who is signed in, since when, and what they may. */
export function createSessionHandlers(ports: AuthPorts, { signIns }: AuthMetrics): SessionHandlers {
  const { sessionIdleMs } = ports.settings;
  return {
    async authorize({ sessionToken, permission, organizationId, ipAddress }) {
      const asked = { sessionToken, permission: permission || undefined, organizationId, ipAddress };
      const outcome = await authorize(ports, asked);
      switch (outcome.kind) {
        case 'allowed':
          return { outcome: { $case: 'allowed', value: sessionMessage(outcome.session, sessionIdleMs) } };
        case 'not_signed_in':
          return { outcome: { $case: 'notSignedIn', value: {} } };
        case 'forbidden':
          return { outcome: { $case: 'forbidden', value: {} } };
        case 'no_such_organization':
          return { outcome: { $case: 'noSuchOrganization', value: {} } };
      }
    },

    async signIn(request) {
      const outcome = await signIn(ports, request);
      signIns[outcome.kind].inc();
      switch (outcome.kind) {
        case 'signed_in': {
          const { sessionToken, session } = outcome;
          const expiresUnixMs = BigInt(session.expiresAt);
          const value = { sessionToken, expiresUnixMs, member: memberMessage(session.member) };
          return { outcome: { $case: 'signedIn', value } };
        }
        case 'refused':
          return { outcome: { $case: 'refused', value: {} } };
        case 'too_many_attempts':
          return { outcome: { $case: 'refused', value: { retryAfterMs: outcome.retryAfterMs } } };
      }
    },

    async getSession({ sessionToken }) {
      const session = await getSession(ports, sessionToken);
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
        secondFactor: false,
        hasPassword: member?.passwordHash !== undefined,
      };
    },

    async signOut({ sessionToken }) {
      await signOut(ports, sessionToken);
      return {};
    },

    async listSessions({ memberId, pageSize, pageToken }) {
      const page = await readPage(pageSize, pageToken, async (request) =>
        isIdLike(memberId) ? ports.sessions.list(memberId, request) : [],
      );
      const now = ports.clock.now();
      const running = page.items.filter((session) => isRunning(session, now, sessionIdleMs));
      return {
        sessions: running.map((session) => sessionMessage(session, sessionIdleMs)),
        nextPageToken: page.nextPageToken,
      };
    },

    async endSession({ actor, sessionId }) {
      const refusal = await endSession(ports, { actor: actorOf(actor), sessionId });
      return refusal ? { refusal: refusalMessage(refusal) } : {};
    },

    async endOtherSessions({ actor, keptSessionId }) {
      return { ended: await endOtherSessions(ports, { actor: actorOf(actor), keptSessionId }) };
    },
  };
}

const NO_SESSION = {
  expiresUnixMs: 0n,
  memberships: [],
  platformPermissions: [],
  secondFactor: false,
  hasPassword: false,
};
