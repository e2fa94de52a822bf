import { hasPermission } from '@gateway/base';
import { invalid, isIdLike, type AdminRefusal } from '@gateway/auth-shared';
import type { PermissionPorts } from '@gateway/people';
import type { KeyOwner } from '../core/model';

/** The member who is to own a key; a refusal unless their role in the organization may own keys. */
export async function findKeyOwner(
  { members, memberships }: Pick<PermissionPorts, 'members' | 'memberships'>,
  organizationId: string,
  memberId: string,
): Promise<KeyOwner | AdminRefusal> {
  const member = isIdLike(memberId) ? await members.find(memberId) : undefined;
  const { role } = member ? await memberships.find(organizationId, memberId) : {};
  const mayOwn =
    role !== undefined && hasPermission({ memberRole: 'member', organizationRole: role }, 'keys:manage_own');
  if (!member || member.disabled || !mayOwn) {
    return invalid('member_id', 'member_id must be a member of the organization whose role may own keys.');
  }
  const { id, email, name } = member;
  return { id, email, name, isOperator: member.role === 'operator', hasLeft: false };
}
