import { isoTime } from '@gateway/admin-calls';
import type {
  ConfirmedTotp,
  PasswordResetLink,
  RecoveryCodes,
  SignedIn,
  TotpSecret,
} from '@gateway/contracts/auth';
import { endpoints, EDGE_CHANGE_TIMEOUT_MS } from '@gateway/dashboard-contract';
import { renderSVG } from 'uqr';
import { dashboardUrlOf } from '../http/dashboard-url';
import { implement, type Implementation } from '../http/implement';
import { createSessionCookies, deviceOf } from '../http/session-cookie';
import { throwIfRefused, unwrap } from '../messages/errors';
import { sessionStateView } from '../messages/people-views';
import type { DashboardApiPorts } from '../ports';

/** Password hashing is slow and may be queued. */
const HASHING = { timeoutMs: 15_000 };
/** Every edge must apply the end of the playground keys, and the recovery codes are shown once. */
const ENDS_KEYS = { timeoutMs: EDGE_CHANGE_TIMEOUT_MS };

export function createAccountHandlers({ authAdmin, settings }: DashboardApiPorts): readonly Implementation[] {
  const { account, people, session } = endpoints;
  const cookies = createSessionCookies(settings);
  return [
    implement(account.changePassword, async ({ body, signedIn, address, request, response }) => {
      const change = {
        ...{ sessionToken: signedIn.sessionToken, ipAddress: address, device: deviceOf(request) },
        ...{ currentPassword: body.current_password, newPassword: body.new_password },
      };
      const opened = unwrap<SignedIn>((await authAdmin.changePassword(change, HASHING)).outcome);
      cookies.set(response, opened);
      return sessionStateView(await authAdmin.getSession({ sessionToken: opened.sessionToken }));
    }),

    implement(session.requestPasswordReset, async ({ body: { email }, address, request }) => {
      const dashboardUrl = dashboardUrlOf(settings, request);
      const reset = { email, ipAddress: address, dashboardUrl };
      throwIfRefused((await authAdmin.requestPasswordReset(reset)).refusal);
      return undefined;
    }),

    implement(session.resetPassword, async ({ body: { token, password }, address }) => {
      const reset = { token, password, ipAddress: address };
      throwIfRefused((await authAdmin.resetPassword(reset, HASHING)).refusal);
      return undefined;
    }),

    implement(people.createPasswordResetLink, async ({ params, request }) => {
      const dashboardUrl = dashboardUrlOf(settings, request);
      const target = { memberId: params.member_id, dashboardUrl };
      const { outcome } = await authAdmin.makePasswordResetLink(target);
      const { link, expiresUnixMs } = unwrap<PasswordResetLink>(outcome);
      return { link, expires_at: isoTime(expiresUnixMs) };
    }),

    implement(account.enrolTotp, async ({ body: { password }, signedIn, address }) => {
      const { sessionToken } = signedIn;
      const { outcome } = await authAdmin.enrolTotp({ sessionToken, password, ipAddress: address }, HASHING);
      const { base32, otpauthUri } = unwrap<TotpSecret>(outcome);
      return { secret: base32, otpauth_uri: otpauthUri, qr_svg: renderSVG(otpauthUri) };
    }),

    implement(account.confirmTotp, async ({ body: { code }, signedIn, address, request, response }) => {
      const { sessionToken } = signedIn;
      const confirmation = { sessionToken, code, ipAddress: address, device: deviceOf(request) };
      const { outcome } = await authAdmin.confirmTotp(confirmation, ENDS_KEYS);
      const { recoveryCodes, signedIn: opened } = unwrap<ConfirmedTotp>(outcome);
      if (!opened) throw new Error('the response has no session');
      cookies.set(response, opened);
      return { recovery_codes: recoveryCodes };
    }),

    implement(account.renewRecoveryCodes, async ({ body: { password, code }, signedIn, address }) => {
      const request = { sessionToken: signedIn.sessionToken, password, code, ipAddress: address };
      const { outcome } = await authAdmin.renewRecoveryCodes(request, HASHING);
      return { recovery_codes: unwrap<RecoveryCodes>(outcome).codes };
    }),

    implement(account.unlinkIdentity, async ({ body: { issuer, password }, signedIn, address }) => {
      const request = { sessionToken: signedIn.sessionToken, password, issuer, ipAddress: address };
      throwIfRefused((await authAdmin.unlinkOwnIdentity(request, HASHING)).refusal);
      return undefined;
    }),

    implement(account.removeTotp, async ({ body: { password, code }, signedIn, address }) => {
      const request = { sessionToken: signedIn.sessionToken, password, code, ipAddress: address };
      throwIfRefused((await authAdmin.removeTotp(request, HASHING)).refusal);
      return undefined;
    }),
  ];
}
