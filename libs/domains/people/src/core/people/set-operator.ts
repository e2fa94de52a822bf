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
import { isRefusal } from '@gateway/errors';
import type { PeoplePorts } from '../ports';
import { awaitRevocation } from '../sign-in/sessions';
import { changeMember } from './change-member';

/** Operators cannot change themselves, nor each other concurrently, so one always remains. Ends the member's sessions. */
export async function setOperator(
  ports: Pick<PeoplePorts, 'members' | 'clock' | 'leases' | 'feed' | 'newId'>,
  {
    actor,
    memberId,
    operator,
  }: { readonly actor: Actor; readonly memberId: string; readonly operator: boolean },
  signal: CancelSignal,
): Promise<Member | AdminRefusal> {
  if (actor.id === memberId)
    return conflict('You cannot change your own operator role. Another operator has to do it.');
  if (!isIdLike(memberId)) return notFound('member');
  const role = operator ? 'operator' : 'member';
  const changed = await changeMember(ports, { actor, memberId }, (current) => {
    if (current.role === role) return { kind: 'unchanged', value: current };
    const details = { email: current.email, changed: { role: { before: current.role, after: role } } };
    const audit = auditOf({ actor, action: 'member.set_operator', target: memberId, details }, ports);
    return { kind: 'change', value: { ...current, role }, audit };
  });
  if (isRefusal(changed)) return changed;
  await awaitRevocation(ports, changed, signal);
  const { id, email, name } = changed.member;
  return { id, email, name, role };
}
