import type { CancelSignal } from '@gateway/base';
import {
  conflict,
  notFound,
  type AdminRefusal,
  auditOf,
  type Actor,
  type Member,
  isIdLike,
} from '@gateway/auth-shared';
import { refuseUnlessPermitted, type PermissionPorts } from '../access/authorize';
import type { PeoplePorts } from '../ports';
import { awaitRevocation } from '../sign-in/sessions';

/** Operators cannot change themselves, and one always remains. Ends the member's sessions. */
export async function setOperator(
  ports: PermissionPorts & Pick<PeoplePorts, 'leases' | 'feed' | 'newId'>,
  {
    actor,
    memberId,
    operator,
  }: { readonly actor: Actor; readonly memberId: string; readonly operator: boolean },
  signal: CancelSignal,
): Promise<Member | AdminRefusal> {
  const refusal = await refuseUnlessPermitted(ports, actor, 'platform:people');
  if (refusal) return refusal;
  if (actor.id === memberId)
    return conflict('You cannot change your own operator role. Another operator has to do it.');
  const member = isIdLike(memberId) ? await ports.members.find(memberId) : undefined;
  if (!member) return notFound('member');
  const role = operator ? 'operator' : 'member';
  const { id, email } = member;
  if (member.role === role) return { id, email, role };
  const details = { email, changed: { role: { before: member.role, after: role } } };
  const audit = auditOf({ actor, action: 'member.set_operator', target: memberId, details }, ports);
  const ended = await ports.members.setRole(memberId, role, audit);
  if (!ended) return lastOperator();
  await awaitRevocation(ports, ended, signal);
  return { id, email, role };
}

export function lastOperator(): AdminRefusal {
  return conflict('The gateway needs at least one operator. Make another person an operator first.');
}
