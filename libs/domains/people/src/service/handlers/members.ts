import type { AuthAdminDefinition } from '@gateway/contracts/auth';
import { isRefusal } from '@gateway/errors';
import { actorOf, personOf, type RpcHandlers } from '@gateway/rpc';
import { readPage, readSearchText, isIdLike } from '@gateway/auth-shared';
import { removeOrganizationMember, setOrganizationRole } from '../../core/people/organization-members';
import { endSessionsOf, resetSecondFactor, setDisabled } from '../../core/people/manage-person';
import { setOperator } from '../../core/people/set-operator';
import type { PeoplePorts } from '../../core/ports';
import { refuseUnlessConfirmed } from '../../core/sign-in/confirm-session';
import { ensureMember } from '../../core/sign-in/ensure-member';
import { refusalMessage } from '@gateway/auth-shared/service';
import {
  memberMessage,
  memberRoleOf,
  organizationMemberMessage,
  organizationRoleOf,
  personMessage,
} from '../messages';

type MemberHandlers = Pick<
  RpcHandlers<typeof AuthAdminDefinition>,
  | 'ensureMember'
  | 'listOrganizationMembers'
  | 'setOrganizationRole'
  | 'removeOrganizationMember'
  | 'leaveOrganization'
  | 'listPeople'
  | 'setOperator'
  | 'resetSecondFactor'
  | 'setDisabled'
  | 'endSessionsOf'
>;

/** Members, their roles in organizations, and operators. */
export function createMemberHandlers(ports: PeoplePorts): MemberHandlers {
  return {
    async ensureMember({ email, password, role, resetPassword }, context) {
      const actor = actorOf(context);
      const wanted = { actor, email, password, role: memberRoleOf(role), resetPassword };
      const ensured = await ensureMember(ports, wanted, context.signal);
      return { ...ensured, member: memberMessage(ensured.member) };
    },

    async listOrganizationMembers({ organizationId, pageSize, pageToken, search }) {
      const page = await readPage(pageSize, pageToken, async (request) =>
        isIdLike(organizationId)
          ? ports.memberships.listIn(organizationId, request, readSearchText(search))
          : [],
      );
      return { members: page.items.map(organizationMemberMessage), nextPageToken: page.nextPageToken };
    },

    async setOrganizationRole({ organizationId, memberId, role }, context) {
      const change = { actor: actorOf(context), organizationId, memberId, role: organizationRoleOf(role) };
      const changed = await setOrganizationRole(ports, change, context.signal);
      return isRefusal(changed)
        ? { outcome: { $case: 'refusal', value: refusalMessage(changed) } }
        : { outcome: { $case: 'member', value: organizationMemberMessage(changed) } };
    },

    async removeOrganizationMember({ organizationId, memberId }, context) {
      const change = { actor: actorOf(context), organizationId, memberId };
      const refusal = await removeOrganizationMember(ports, change, context.signal);
      return refusal ? { refusal: refusalMessage(refusal) } : {};
    },

    async leaveOrganization({ organizationId }, context) {
      const actor = personOf(context);
      const change = { actor, organizationId, memberId: actor.id };
      const refusal = await removeOrganizationMember(ports, change, context.signal);
      return refusal ? { refusal: refusalMessage(refusal) } : {};
    },

    async resetSecondFactor({ memberId }, context) {
      const actor = personOf(context);
      const refusal =
        (await refuseUnlessConfirmed(ports, actor, 'platform:people')) ??
        (await resetSecondFactor(ports, { actor, memberId }, context.signal));
      return refusal ? { refusal: refusalMessage(refusal) } : {};
    },

    async setDisabled({ memberId, disabled }, context) {
      const actor = personOf(context);
      const refusal =
        (await refuseUnlessConfirmed(ports, actor, 'platform:people')) ??
        (await setDisabled(ports, { actor, memberId, disabled }, context.signal));
      return refusal ? { refusal: refusalMessage(refusal) } : {};
    },

    async endSessionsOf({ memberId }, context) {
      const target = { actor: personOf(context), memberId };
      const refusal = await endSessionsOf(ports, target, context.signal);
      return refusal ? { refusal: refusalMessage(refusal) } : {};
    },

    async listPeople({ pageSize, pageToken, search }) {
      const page = await readPage(pageSize, pageToken, (request) =>
        ports.members.list(request, readSearchText(search)),
      );
      return { people: page.items.map(personMessage), nextPageToken: page.nextPageToken };
    },

    async setOperator({ memberId, operator }, context) {
      const actor = personOf(context);
      const changed =
        (await refuseUnlessConfirmed(ports, actor, 'platform:people')) ??
        (await setOperator(ports, { actor, memberId, operator }, context.signal));
      return isRefusal(changed)
        ? { outcome: { $case: 'refusal', value: refusalMessage(changed) } }
        : { outcome: { $case: 'member', value: memberMessage(changed) } };
    },
  };
}
