import { endpoints, parts } from '@gateway/dashboard-contract';
import { implement, type Implementation } from '../http/implement';
import {
  createInvitationCookies,
  createSessionCookies,
  invitationTokenOf,
  sessionTokenOf,
} from '../http/session-cookie';
import type { DashboardApiPorts } from '../ports';

/** The endpoints that set or clear cookies; auth does everything else. */
export function createSessionHandlers({ owners, settings }: DashboardApiPorts): readonly Implementation[] {
  const { session, account } = endpoints;
  const cookies = createSessionCookies(settings);
  const invitationCookies = createInvitationCookies(settings);

  return [
    implement(session.signIn, async ({ sent, client, request, response }) => {
      const body = { ...sent, earlier_session_token: sessionTokenOf(request, settings) };
      const { state, ...opened } = await owners.auth.call(parts.signIn, { body, client });
      cookies.set(response, opened);
      return state;
    }),

    implement(session.signOut, async ({ response }) => {
      await owners.auth.call(session.signOut, { body: {} });
      cookies.clear(response);
      return undefined;
    }),

    implement(session.end, async ({ params, signedIn, response }) => {
      await owners.auth.call(session.end, { params, body: {} });
      if (params.session_id === signedIn.session_id) cookies.clear(response);
      return undefined;
    }),

    implement(session.invitation, async ({ body, client, request, response }) => {
      const token = body.token ?? invitationTokenOf(request) ?? '';
      const invitation = await owners.auth.call(session.invitation, { body: { token }, client });
      invitationCookies.set(response, token);
      return invitation;
    }),

    implement(session.acceptInvitation, async ({ body, client, request, response }) => {
      const acceptance = {
        token: body.token ?? invitationTokenOf(request) ?? '',
        password: body.password,
        name: body.name,
        session_token: sessionTokenOf(request, settings),
      };
      const { state, ...opened } = await owners.auth.call(parts.acceptInvitation, {
        body: acceptance,
        client,
      });
      cookies.set(response, opened);
      invitationCookies.clear(response);
      return state;
    }),

    implement(account.changePassword, async ({ sent, client, response }) => {
      const { state, ...opened } = await owners.auth.call(parts.changePassword, { body: sent, client });
      cookies.set(response, opened);
      return state;
    }),

    implement(account.confirmTotp, async ({ sent, client, response }) => {
      const { recovery_codes, ...opened } = await owners.auth.call(parts.confirmTotp, { body: sent, client });
      cookies.set(response, opened);
      return { recovery_codes };
    }),
  ];
}
