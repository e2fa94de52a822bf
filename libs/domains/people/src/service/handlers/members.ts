import type { AuthAdminDefinition } from '@gateway/contracts/auth';
import { actorOf, type RpcHandlers } from '@gateway/rpc';
import type { PeoplePorts } from '../../core/ports';
import { ensureMember } from '../../core/sign-in/ensure-member';
import { memberMessage, memberRoleOf } from '../messages';

/** Members with a password, for the demo. */
export function createMemberHandlers(
  ports: PeoplePorts,
): Pick<RpcHandlers<typeof AuthAdminDefinition>, 'ensureMember'> {
  return {
    async ensureMember({ email, password, role, resetPassword }, context) {
      const actor = actorOf(context);
      const wanted = { actor, email, password, role: memberRoleOf(role), resetPassword };
      const ensured = await ensureMember(ports, wanted, context.signal);
      return { ...ensured, member: memberMessage(ensured.member) };
    },
  };
}
