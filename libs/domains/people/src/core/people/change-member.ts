import {
  COMMAND_LINE_ACTOR,
  forbidden,
  notFound,
  type Actor,
  type AdminRefusal,
  type Decision,
} from '@gateway/auth-shared';
import type { ChangedMember, PeoplePorts, StoredMember } from '../ports';

/**
 * Writes the decision if the actor is an operator under the lock: of two operators who demote or disable each other
 * concurrently, the first one stays. The actor is another person than the member.
 */
export async function changeMember(
  { members }: Pick<PeoplePorts, 'members'>,
  { actor, memberId }: { readonly actor: Actor; readonly memberId: string },
  decide: (current: StoredMember) => Decision<StoredMember>,
): Promise<ChangedMember | AdminRefusal> {
  const changed = await members.change(memberId, actor.id, (current, operator) => {
    const isOperator = operator?.role === 'operator' && !operator.disabled;
    return isOperator || actor === COMMAND_LINE_ACTOR ? decide(current) : forbidden();
  });
  return changed ?? notFound('member');
}
