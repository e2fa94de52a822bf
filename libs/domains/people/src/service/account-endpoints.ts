import { implement, type Implementation } from '@gateway/admin-calls';
import { accepted } from '@gateway/auth-shared/service';
import { endpoints, parts } from '@gateway/dashboard-contract';
import { personOf } from '@gateway/rpc';
import { renderSVG } from 'uqr';
import { changeProfile } from '../core/people/change-profile';
import type { PeoplePorts } from '../core/ports';
import { changePassword } from '../core/sign-in/change-password';
import { confirmTotp, enrolTotp, removeTotp, renewRecoveryCodes } from '../core/sign-in/totp-enrolment';
import { unlinkOwnIdentity } from '../core/single-sign-on/unlink-identity';
import { openedSessionView, openedWithStateView } from './session-views';
import { identityView } from './views';

const { account } = endpoints;

/** The signed-in person's own password, second factor and identities. */
export function createAccountEndpoints(ports: PeoplePorts): readonly Implementation[] {
  return [
    implement(account.changeProfile, async ({ body: { name, time_zone: timeZone }, ...input }) =>
      accepted(await changeProfile(ports, { person: personOf(input), name, timeZone })),
    ),

    implement(parts.changePassword, async ({ body, client: { device }, signal, ...input }) => {
      const passwords = { currentPassword: body.current_password, newPassword: body.new_password };
      const change = { person: personOf(input), device, ...passwords };
      return openedWithStateView(ports, accepted(await changePassword(ports, change, signal)));
    }),

    implement(account.enrolTotp, async ({ body: { password }, ...input }) => {
      const enrolled = accepted(await enrolTotp(ports, { person: personOf(input), password }));
      const { base32, otpauthUri } = enrolled;
      return { secret: base32, otpauth_uri: otpauthUri, qr_svg: renderSVG(otpauthUri) };
    }),

    implement(parts.confirmTotp, async ({ body: { code }, client: { device }, signal, ...input }) => {
      const confirmation = { person: personOf(input), code, device };
      const confirmed = accepted(await confirmTotp(ports, confirmation, signal));
      return { recovery_codes: confirmed.recoveryCodes, ...openedSessionView(confirmed) };
    }),

    implement(account.renewRecoveryCodes, async ({ body, ...input }) => {
      const renewed = accepted(await renewRecoveryCodes(ports, { person: personOf(input), ...body }));
      return { recovery_codes: renewed.codes };
    }),

    implement(account.removeTotp, async ({ body, ...input }) =>
      accepted(await removeTotp(ports, { person: personOf(input), ...body })),
    ),

    implement(account.identities, async ({ actor }) => ({
      data: (await ports.identities.list(actor.id)).map(identityView),
    })),

    implement(account.unlinkIdentity, async ({ body, signal, ...input }) =>
      accepted(await unlinkOwnIdentity(ports, { person: personOf(input), ...body }, signal)),
    ),
  ];
}
