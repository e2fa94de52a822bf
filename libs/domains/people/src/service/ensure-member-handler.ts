import { MemberRole, type AuthAdminDefinition } from '@gateway/contracts/auth';
import { actorOf, type RpcHandlers } from '@gateway/rpc';
import type { PeoplePorts } from '../core/ports';
import { ensureMember } from '../core/sign-in/ensure-member';

/** Members with a password, for the demo. */
export function createEnsureMemberHandler(
  ports: PeoplePorts,
): Pick<RpcHandlers<typeof AuthAdminDefinition>, 'ensureMember'> {
  return {
    async ensureMember({ email, password, role, resetPassword }, context) {
      const wanted = {
        actor: actorOf(context),
        email,
        password,
        role: role === MemberRole.MEMBER_ROLE_OPERATOR ? ('operator' as const) : ('member' as const),
        resetPassword,
      };
      const ensured = await ensureMember(ports, wanted, context.signal);
      return { ...ensured, member: { id: ensured.member.id, email: ensured.member.email, role } };
    },
  };
}
