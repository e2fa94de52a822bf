import type { AuthAdminDefinition } from '@gateway/contracts/auth';
import { isRefusal } from '@gateway/errors';
import { actorOf, type RpcHandlers } from '@gateway/rpc';
import { countEmails } from '../../core/email/count-emails';
import { acceptInvitation } from '../../core/people/accept-invitation';
import { createInvitation, lookUpInvitation } from '../../core/people/invitations';
import type { PeoplePorts } from '../../core/ports';
import { refusalMessage } from '@gateway/auth-shared/service';
import { invitationMessage, openSessionResponse, organizationRoleOf } from '../messages';

type InvitationHandlers = Pick<
  RpcHandlers<typeof AuthAdminDefinition>,
  'createInvitation' | 'countEmails' | 'lookUpInvitation' | 'acceptInvitation'
>;

/** Invitations to organizations, and the count of emails. */
export function createInvitationHandlers(ports: PeoplePorts): InvitationHandlers {
  return {
    async createInvitation({ organizationId, email, role, dashboardUrl }, context) {
      const wanted = { organizationId, email, role: organizationRoleOf(role), dashboardUrl };
      const created = await createInvitation(ports, { ...wanted, actor: actorOf(context) });
      if (isRefusal(created)) return { outcome: { $case: 'refusal', value: refusalMessage(created) } };
      const { link, mailed } = created;
      const invitation = invitationMessage(created.invitation, ports.clock.now());
      return { outcome: { $case: 'created', value: { invitation, link, mailed } } };
    },

    async countEmails({ organizationId, recipients }, context) {
      const { id: personId } = actorOf(context);
      const refusal = await countEmails(ports, { personId, organizationId, recipients });
      return refusal ? { refusal: refusalMessage(refusal) } : {};
    },

    async lookUpInvitation(request) {
      const found = await lookUpInvitation(ports, request);
      if (isRefusal(found)) return { outcome: { $case: 'refusal', value: refusalMessage(found) } };
      const { organizationName, hasAccount } = found;
      const invitation = invitationMessage(found.invitation, ports.clock.now());
      return { outcome: { $case: 'invitation', value: { organizationName, invitation, hasAccount } } };
    },

    async acceptInvitation({ token, password, sessionToken, ipAddress, device }) {
      const request = {
        ...{ token, ipAddress, device },
        ...(password === undefined ? {} : { password }),
        ...(sessionToken === undefined ? {} : { sessionToken }),
      };
      return openSessionResponse(await acceptInvitation(ports, request));
    },
  };
}
