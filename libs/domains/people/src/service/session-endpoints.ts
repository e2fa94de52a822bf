import { implement, pageView, type Implementation } from '@gateway/admin-calls';
import { isIdLike, isSessionActive, readPage } from '@gateway/auth-shared';
import { accepted } from '@gateway/auth-shared/service';
import { DashboardError, endpoints, parts } from '@gateway/dashboard-contract';
import { personOf } from '@gateway/rpc';
import { authorize, permissionOf } from '../core/access/authorize';
import { authorizeManagementToken } from '../core/management-tokens/authorize-management-token';
import type { PeoplePorts } from '../core/ports';
import { confirmSession, isConfirmed } from '../core/sign-in/confirm-session';
import { endOtherSessions, endSession, findOwnSession } from '../core/sign-in/sessions';
import { memberView } from './views';
import { sessionInListView, sessionStateView } from './session-views';

const { session } = endpoints;

/** Authorization of requests, and the sessions of the signed-in person. */
export function createSessionEndpoints(ports: PeoplePorts): readonly Implementation[] {
  return [
    implement(parts.authorize, async ({ body, client }) => {
      const { session_token: sessionToken, background, confirmed, access } = body;
      const needed = { permission: permissionOf(access), organizationId: body.organization_id };
      const { ipAddress } = client;
      const outcome = await authorize(ports, { sessionToken, background, ipAddress, ...needed });
      if (outcome.kind !== 'allowed') throw notAuthorized(outcome.kind);
      const { id, member } = outcome.session;
      if (confirmed && !(await isConfirmed(ports, id, member.id)))
        throw new DashboardError('confirmation_required');
      const role = outcome.organizationRole ?? null;
      return { session_id: id, member: memberView(member), organization_role: role };
    }),

    implement(parts.authorizeManagementToken, async ({ body, client: { ipAddress } }) => {
      const { secret, changes, access, organization_id: organizationId } = body;
      const needed = { permission: permissionOf(access), organizationId, changes };
      const outcome = await authorizeManagementToken(ports, { token: secret, ipAddress, ...needed });
      if (outcome.kind === 'too_many_attempts')
        throw new DashboardError('too_many_attempts', { retryAfterMs: outcome.retryAfterMs });
      if (outcome.kind === 'forbidden' || (outcome.kind === 'allowed' && access === 'signed_in'))
        throw new DashboardError('forbidden', { message: 'This management token may not do this.' });
      if (outcome.kind !== 'allowed') throw notAuthorized(outcome.kind);
      const { token, label } = outcome;
      const scope = token.scope && { organization_id: token.scope.organizationId, role: token.scope.role };
      return { id: token.id, label, access: token.access, scope: scope ?? null };
    }),

    implement(session.current, async (input) => {
      const current = await findOwnSession(ports, personOf(input));
      if (!current) throw new DashboardError('not_signed_in');
      return sessionStateView(ports, current);
    }),

    implement(session.confirm, async ({ body, ...input }) =>
      accepted(await confirmSession(ports, { person: personOf(input), ...body })),
    ),

    implement(session.list, async ({ query, ...input }) => {
      const { id, sessionId } = personOf(input);
      const page = await readPage(query.page_size, query.page_token, async (request) =>
        isIdLike(id) ? ports.sessions.list(id, request) : [],
      );
      const now = ports.clock.now();
      const active = page.items.filter((one) => isSessionActive(one, now, ports.settings.sessionIdleMs));
      return pageView(
        active.map((one) => sessionInListView(one, sessionId)),
        page.nextPageToken,
      );
    }),

    implement(session.signOut, async ({ signal, ...input }) => {
      const person = personOf(input);
      // A refusal says that the session has just ended, which is the wanted state.
      await endSession(ports, { actor: person, sessionId: person.sessionId }, signal);
      return undefined;
    }),

    implement(session.end, async ({ params, signal, ...input }) => {
      const target = { actor: personOf(input), sessionId: params.session_id };
      return accepted(await endSession(ports, target, signal));
    }),

    implement(session.endOthers, async ({ signal, ...input }) => {
      const actor = personOf(input);
      return { ended: await endOtherSessions(ports, { actor, keptSessionId: actor.sessionId }, signal) };
    }),
  ];
}

const CODE_OF_REFUSAL = {
  not_signed_in: 'not_signed_in',
  not_valid: 'management_token_not_valid',
  forbidden: 'forbidden',
  second_factor_setup_required: 'second_factor_setup_required',
  no_such_organization: 'not_found',
} as const;

function notAuthorized(kind: keyof typeof CODE_OF_REFUSAL): DashboardError {
  const options = kind === 'no_such_organization' ? { message: 'This organization does not exist.' } : {};
  return new DashboardError(CODE_OF_REFUSAL[kind], options);
}
