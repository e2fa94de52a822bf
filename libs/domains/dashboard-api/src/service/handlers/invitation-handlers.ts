import type { CreatedInvitation, InvitationForGuest, SignedIn } from '@gateway/contracts/auth';
import { endpoints } from '@gateway/dashboard-contract';
import { dashboardUrlOf } from '../http/dashboard-url';
import { implement, type Implementation } from '../http/implement';
import {
  createInvitationCookies,
  createSessionCookies,
  deviceOf,
  invitationTokenOf,
  sessionTokenOf,
} from '../http/session-cookie';
import { unwrap } from '../messages/errors';
import {
  invitationForGuestView,
  invitationView,
  organizationRoleMessage,
  sessionStateView,
} from '../messages/people-views';
import type { DashboardApiPorts } from '../ports';

/** Password hashing and sending email are slow. */
const SLOW = { timeoutMs: 20_000 };

export function createInvitationHandlers({
  authAdmin,
  settings,
}: DashboardApiPorts): readonly Implementation[] {
  const { people, session } = endpoints;
  const cookies = createSessionCookies(settings);
  const invitationCookies = createInvitationCookies(settings);
  return [
    implement(people.invite, async ({ params, body, request }) => {
      const creation = {
        ...{ organizationId: params.organization_id, email: body.email },
        role: organizationRoleMessage(body.role),
        dashboardUrl: dashboardUrlOf(settings, request),
      };
      const { outcome } = await authAdmin.createInvitation(creation, SLOW);
      const { invitation, link, mailed: emailed } = unwrap<CreatedInvitation>(outcome);
      if (!invitation) throw new Error('the response has no invitation');
      return { invitation: invitationView(invitation), link, emailed };
    }),

    implement(session.invitation, async ({ body, address, request, response }) => {
      const token = body.token ?? invitationTokenOf(request) ?? '';
      const { outcome } = await authAdmin.lookUpInvitation({ token, ipAddress: address });
      const invitation = unwrap<InvitationForGuest>(outcome);
      invitationCookies.set(response, token);
      return invitationForGuestView(invitation);
    }),

    implement(session.acceptInvitation, async ({ body, address, request, response }) => {
      const acceptance = {
        ...{ token: body.token ?? invitationTokenOf(request) ?? '', password: body.password },
        ...{ sessionToken: sessionTokenOf(request, settings), ipAddress: address, device: deviceOf(request) },
      };
      const { outcome } = await authAdmin.acceptInvitation(acceptance, SLOW);
      const opened = unwrap<SignedIn>(outcome);
      cookies.set(response, opened);
      invitationCookies.clear(response);
      return sessionStateView(await authAdmin.getSession({ sessionToken: opened.sessionToken }));
    }),
  ];
}
