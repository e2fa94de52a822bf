import { implement, isoTime, pageView, type Implementation } from '@gateway/admin-calls';
import { isIdLike, onFirstPage, readPage, readSearchText } from '@gateway/auth-shared';
import { accepted } from '@gateway/auth-shared/service';
import { endpoints, parts } from '@gateway/dashboard-contract';
import { personOf } from '@gateway/rpc';
import { countEmails } from '../core/email/count-emails';
import { createInvitation, revokeInvitation } from '../core/people/invitations';
import { endSessionsOf, resetSecondFactor, setDisabled } from '../core/people/manage-person';
import { removeOrganizationMember, setOrganizationRole } from '../core/people/organization-members';
import { setOperator } from '../core/people/set-operator';
import type { PeoplePorts } from '../core/ports';
import { createPasswordResetLink } from '../core/sign-in/password-reset';
import { mapDomain, unmapDomain } from '../core/single-sign-on/domains';
import { unlinkIdentity } from '../core/single-sign-on/unlink-identity';
import {
  invitationView,
  memberView,
  organizationDomainView,
  organizationMemberView,
  personView,
} from './views';

const { people } = endpoints;

/** Members, invitations and domains of an organization, and, for operators, all people. */
export function createPeopleEndpoints(ports: PeoplePorts): readonly Implementation[] {
  return [
    implement(people.members, async ({ params: { organization_id: organizationId }, query }) => {
      const search = readSearchText(query.search);
      const isKnown = isIdLike(organizationId);
      const [page, total] = await Promise.all([
        readPage(query.page_size, query.page_token, async (request) =>
          isKnown ? ports.memberships.listIn(organizationId, request, search) : [],
        ),
        onFirstPage(query, async () => (isKnown ? ports.memberships.countIn(organizationId, search) : 0)),
      ]);
      return { ...pageView(page.items.map(organizationMemberView), page.nextPageToken), ...total };
    }),

    implement(people.setMemberRole, async ({ params, body: { role }, actor, signal }) => {
      const change = { actor, organizationId: params.organization_id, memberId: params.member_id, role };
      return { member: organizationMemberView(accepted(await setOrganizationRole(ports, change, signal))) };
    }),

    implement(people.removeMember, async ({ params, actor, signal }) => {
      const target = { actor, organizationId: params.organization_id, memberId: params.member_id };
      return accepted(await removeOrganizationMember(ports, target, signal));
    }),

    implement(people.leave, async ({ params, signal, ...input }) => {
      const actor = personOf(input);
      const target = { actor, organizationId: params.organization_id, memberId: actor.id };
      return accepted(await removeOrganizationMember(ports, target, signal));
    }),

    implement(people.invitations, async ({ params: { organization_id: organizationId }, query }) => {
      const page = await readPage(query.page_size, query.page_token, async (request) =>
        isIdLike(organizationId) ? ports.invitations.list(organizationId, request, query.state) : [],
      );
      const now = ports.clock.now();
      return pageView(
        page.items.map((one) => invitationView(one, now)),
        page.nextPageToken,
      );
    }),

    implement(people.invite, async ({ params, body, actor, client: { dashboardUrl } }) => {
      const wanted = { actor, organizationId: params.organization_id, dashboardUrl, ...body };
      const { invitation, link, mailed } = accepted(await createInvitation(ports, wanted));
      return { invitation: invitationView(invitation, ports.clock.now()), link, emailed: mailed };
    }),

    implement(people.revokeInvitation, async ({ params, actor }) => {
      const { organization_id: organizationId, invitation_id: invitationId } = params;
      return accepted(await revokeInvitation(ports, { actor, organizationId, invitationId }));
    }),

    implement(people.domains, async ({ params: { organization_id: organizationId }, isOperator }) => {
      const domains = isIdLike(organizationId) ? await ports.domains.list(organizationId) : [];
      return { data: domains.map((domain) => organizationDomainView(domain, isOperator)) };
    }),

    implement(people.mapDomain, async ({ params, body: { role }, actor, isOperator }) => {
      const { organization_id: organizationId, domain } = params;
      const mapped = accepted(await mapDomain(ports, { actor, organizationId, domain, role }));
      return { domain: organizationDomainView(mapped, isOperator) };
    }),

    implement(people.unmapDomain, async ({ params, actor }) => {
      const { organization_id: organizationId, domain } = params;
      return accepted(await unmapDomain(ports, { actor, organizationId, domain }));
    }),

    implement(people.list, async ({ query }) => {
      const search = readSearchText(query.search);
      const [page, total] = await Promise.all([
        readPage(query.page_size, query.page_token, (request) => ports.members.list(request, search)),
        onFirstPage(query, () => ports.members.count(search)),
      ]);
      return { ...pageView(page.items.map(personView), page.nextPageToken), ...total };
    }),

    implement(people.setOperator, async ({ params, body: { operator }, actor, signal }) => {
      const change = { actor, memberId: params.member_id, operator };
      return { member: memberView(accepted(await setOperator(ports, change, signal))) };
    }),

    implement(people.resetSecondFactor, async ({ params, actor, signal }) =>
      accepted(await resetSecondFactor(ports, { actor, memberId: params.member_id }, signal)),
    ),

    implement(people.setDisabled, async ({ params, body: { disabled }, actor, signal }) =>
      accepted(await setDisabled(ports, { actor, memberId: params.member_id, disabled }, signal)),
    ),

    implement(people.endSessions, async ({ params, actor, signal }) =>
      accepted(await endSessionsOf(ports, { actor, memberId: params.member_id }, signal)),
    ),

    implement(people.unlinkPersonIdentity, async ({ params, body: { issuer }, actor, signal }) =>
      accepted(await unlinkIdentity(ports, { actor, memberId: params.member_id, issuer }, signal)),
    ),

    implement(people.createPasswordResetLink, async ({ params, actor, client: { dashboardUrl } }) => {
      const target = { actor, memberId: params.member_id, dashboardUrl };
      const { link, expiresAt } = accepted(await createPasswordResetLink(ports, target));
      return { link, expires_at: isoTime(expiresAt) };
    }),

    implement(parts.countEmails, async ({ params: { organization_id: organizationId }, body, actor }) =>
      accepted(await countEmails(ports, { personId: actor.id, organizationId, ...body })),
    ),
  ];
}
