import { randomBytes } from 'node:crypto';
import {
  MemberRole,
  type Actor,
  type AuthAdminDefinition,
  type Member,
  type PasswordResetLink,
} from '@gateway/contracts/auth';
import type { RpcClient } from '@gateway/rpc';
import { unwrap, toDashboardError } from './messages/errors';

export interface MakeOperatorPorts {
  readonly authAdmin: RpcClient<typeof AuthAdminDefinition>;
  /** The dashboard's origin, for the link. */
  readonly dashboardUrl: string;
}

/** The command line acts without a permission check: it already has access to the deployment. */
const system: Actor = { id: 'system', label: 'command line', ipAddress: '' };
/** A random initial password, which is never shown. */
const UNKNOWN_PASSWORD_BYTES = 32;

/**
 * Grants the operator role, for the first operator or to restore access. Existing sessions and two-factor authentication
 * are kept.
 *
 * @returns a link to choose a password.
 * @throws DashboardError with a public message, such as for an invalid email or an unavailable auth service.
 */
export async function makeOperator(
  { authAdmin, dashboardUrl }: MakeOperatorPorts,
  email: string,
): Promise<PasswordResetLink> {
  try {
    const { member } = await authAdmin.ensureMember({
      actor: system,
      email,
      password: randomBytes(UNKNOWN_PASSWORD_BYTES).toString('base64url'),
      role: MemberRole.MEMBER_ROLE_OPERATOR,
      resetPassword: false,
    });
    if (!member) throw new Error('the response has no member');
    const { id: memberId, role } = member;
    if (role !== MemberRole.MEMBER_ROLE_OPERATOR) {
      unwrap<Member>((await authAdmin.setOperator({ actor: system, memberId, operator: true })).outcome);
    }
    const { outcome } = await authAdmin.makePasswordResetLink({ actor: system, memberId, dashboardUrl });
    return unwrap<PasswordResetLink>(outcome);
  } catch (error) {
    throw toDashboardError(error);
  }
}
