import type { AuthAdminDefinition } from '@gateway/contracts/auth';
import { isRefusal } from '@gateway/errors';
import { personOf, type RpcHandlers } from '@gateway/rpc';
import type { AdminRefusal } from '@gateway/auth-shared';
import type { PeoplePorts } from '../../core/ports';
import { changePassword } from '../../core/sign-in/change-password';
import { refuseUnlessConfirmed } from '../../core/sign-in/confirm-session';
import {
  createPasswordResetLink,
  requestPasswordReset,
  resetPassword,
} from '../../core/sign-in/password-reset';
import { confirmTotp, enrolTotp, removeTotp, renewRecoveryCodes } from '../../core/sign-in/totp-enrolment';
import { refusalMessage } from '@gateway/auth-shared/service';
import { openedSessionMessage, openSessionResponse } from '../messages';

type AccountHandlers = Pick<
  RpcHandlers<typeof AuthAdminDefinition>,
  | 'changePassword'
  | 'requestPasswordReset'
  | 'makePasswordResetLink'
  | 'resetPassword'
  | 'enrolTotp'
  | 'confirmTotp'
  | 'renewRecoveryCodes'
  | 'removeTotp'
>;

/** Password and second factor of the signed-in member, and password resets. */
export function createAccountHandlers(ports: PeoplePorts): AccountHandlers {
  return {
    async changePassword(request, { signal }) {
      return openSessionResponse(await changePassword(ports, request, signal));
    },

    async requestPasswordReset(request) {
      return refusalOrNone(await requestPasswordReset(ports, request));
    },

    async makePasswordResetLink({ memberId, dashboardUrl }, context) {
      const actor = personOf(context);
      const created =
        (await refuseUnlessConfirmed(ports, actor, 'platform:people')) ??
        (await createPasswordResetLink(ports, { actor, memberId, dashboardUrl }));
      if (isRefusal(created)) return refused(created);
      const value = { link: created.link, expiresUnixMs: BigInt(created.expiresAt) };
      return { outcome: { $case: 'created', value } };
    },

    async resetPassword(request, { signal }) {
      return refusalOrNone(await resetPassword(ports, request, signal));
    },

    async enrolTotp(request) {
      const enrolled = await enrolTotp(ports, request);
      if (isRefusal(enrolled)) return refused(enrolled);
      const { base32, otpauthUri } = enrolled;
      return { outcome: { $case: 'secret', value: { base32, otpauthUri } } };
    },

    async confirmTotp(request, { signal }) {
      const confirmed = await confirmTotp(ports, request, signal);
      if (isRefusal(confirmed)) return refused(confirmed);
      const value = {
        recoveryCodes: [...confirmed.recoveryCodes],
        signedIn: openedSessionMessage(confirmed),
      };
      return { outcome: { $case: 'confirmed', value } };
    },

    async renewRecoveryCodes(request) {
      const renewed = await renewRecoveryCodes(ports, request);
      if (isRefusal(renewed)) return refused(renewed);
      return { outcome: { $case: 'renewed', value: { codes: [...renewed.codes] } } };
    },

    async removeTotp(request) {
      return refusalOrNone(await removeTotp(ports, request));
    },
  };
}

function refused(refusal: AdminRefusal) {
  return { outcome: { $case: 'refusal' as const, value: refusalMessage(refusal) } };
}

function refusalOrNone(refusal: AdminRefusal | undefined) {
  return refusal ? { refusal: refusalMessage(refusal) } : {};
}
