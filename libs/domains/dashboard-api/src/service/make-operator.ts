import { randomBytes } from 'node:crypto';
import {
  MemberRole,
  type Actor,
  type AuthAdminDefinition,
  type Member,
  type PasswordResetLink,
} from '@gateway/contracts/auth';
import type { RpcClient } from '@gateway/rpc';
import { accepted, toDashboardError } from './messages/errors';

export interface MakeOperatorPorts {
  readonly authAdmin: RpcClient<typeof AuthAdminDefinition>;
  /** The dashboard's origin, for the link. */
  readonly dashboardUrl: string;
}

/** Whoever may run commands where the gateway runs needs no permission. */
const system: Actor = { id: 'system', label: 'command line', ipAddress: '' };
/** Nobody learns it; it is there until another is chosen. */
const UNKNOWN_PASSWORD_BYTES = 32;

/**
 * Makes somebody an operator: the first one, or the one who helps out when
 * nobody else can sign in. Their other sessions and their second factor stay.
 *
 * @returns a link by which they choose their password.
 * @throws DashboardError by its message for people: such as an email that is none, or auth away.
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
    if (!member) throw new Error('a member is missing from an answer');
    const { id: memberId, role } = member;
    if (role !== MemberRole.MEMBER_ROLE_OPERATOR) {
      accepted<Member>((await authAdmin.setOperator({ actor: system, memberId, operator: true })).outcome);
    }
    const { outcome } = await authAdmin.makePasswordResetLink({ actor: system, memberId, dashboardUrl });
    return accepted<PasswordResetLink>(outcome);
  } catch (error) {
    throw toDashboardError(error);
  }
}
