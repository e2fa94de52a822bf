import { pageRequest, pageView } from '@gateway/admin-calls';
import type { Member, OrganizationDomain, OrganizationMember } from '@gateway/contracts/auth';
import { endpoints } from '@gateway/dashboard-contract';
import { implement, type Implementation } from '../http/implement';
import { throwIfRefused, unwrap } from '../messages/errors';
import {
  memberView,
  organizationDomainView,
  organizationMemberView,
  organizationRoleMessage,
  personView,
} from '../messages/people-views';
import { EDGE_CHANGE_TIMEOUT_MS } from './organization-handlers';
import type { DashboardApiPorts } from '../ports';

const ENDS_KEYS = { timeoutMs: EDGE_CHANGE_TIMEOUT_MS };

export function createPeopleHandlers({ authAdmin }: DashboardApiPorts): readonly Implementation[] {
  const { people } = endpoints;
  return [
    implement(people.members, async ({ params, query }) => {
      const { search } = query;
      const listRequest = { organizationId: params.organization_id, ...pageRequest(query), search };
      const { members, nextPageToken } = await authAdmin.listOrganizationMembers(listRequest);
      return pageView(members.map(organizationMemberView), nextPageToken);
    }),

    implement(people.setMemberRole, async ({ params, body }) => {
      const change = {
        organizationId: params.organization_id,
        memberId: params.member_id,
        role: organizationRoleMessage(body.role),
      };
      const { outcome } = await authAdmin.setOrganizationRole(change, ENDS_KEYS);
      return { member: organizationMemberView(unwrap<OrganizationMember>(outcome)) };
    }),

    implement(people.removeMember, async ({ params }) => {
      const target = { organizationId: params.organization_id, memberId: params.member_id };
      throwIfRefused((await authAdmin.removeOrganizationMember(target, ENDS_KEYS)).refusal);
      return undefined;
    }),

    implement(people.leave, async ({ params }) => {
      const left = { organizationId: params.organization_id };
      const { refusal } = await authAdmin.leaveOrganization(left, ENDS_KEYS);
      throwIfRefused(refusal);
      return undefined;
    }),

    implement(people.domains, async ({ params, isOperator }) => {
      const { domains } = await authAdmin.listOrganizationDomains({ organizationId: params.organization_id });
      return { data: domains.map((domain) => organizationDomainView(domain, isOperator)) };
    }),

    implement(people.mapDomain, async ({ params, body, isOperator }) => {
      const { outcome } = await authAdmin.mapDomain({
        organizationId: params.organization_id,
        domain: params.domain,
        role: organizationRoleMessage(body.role),
      });
      return { domain: organizationDomainView(unwrap<OrganizationDomain>(outcome), isOperator) };
    }),

    implement(people.unmapDomain, async ({ params }) => {
      const target = { organizationId: params.organization_id, domain: params.domain };
      throwIfRefused((await authAdmin.unmapDomain(target)).refusal);
      return undefined;
    }),

    implement(people.list, async ({ query }) => {
      const { people, nextPageToken } = await authAdmin.listPeople({
        ...pageRequest(query),
        search: query.search,
      });
      return pageView(people.map(personView), nextPageToken);
    }),

    implement(people.setOperator, async ({ params, body }) => {
      const change = { memberId: params.member_id, operator: body.operator };
      const { outcome } = await authAdmin.setOperator(change, ENDS_KEYS);
      return { member: memberView(unwrap<Member>(outcome)) };
    }),

    implement(people.resetSecondFactor, async ({ params }) => {
      const { refusal } = await authAdmin.resetSecondFactor({ memberId: params.member_id }, ENDS_KEYS);
      throwIfRefused(refusal);
      return undefined;
    }),

    implement(people.setDisabled, async ({ params, body }) => {
      const change = { memberId: params.member_id, disabled: body.disabled };
      throwIfRefused((await authAdmin.setDisabled(change, ENDS_KEYS)).refusal);
      return undefined;
    }),

    implement(people.endSessions, async ({ params }) => {
      throwIfRefused((await authAdmin.endSessionsOf({ memberId: params.member_id }, ENDS_KEYS)).refusal);
      return undefined;
    }),

    implement(people.unlinkPersonIdentity, async ({ params, body }) => {
      const identity = { memberId: params.member_id, issuer: body.issuer };
      throwIfRefused((await authAdmin.unlinkIdentity(identity)).refusal);
      return undefined;
    }),
  ];
}
