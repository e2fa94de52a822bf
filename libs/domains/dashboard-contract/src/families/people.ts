import { z } from 'zod';
import { created, endpoint, json, nothing } from '../endpoint';
import { emptyBody, id, page, pageQuery, time } from '../fields';

/** Who belongs to an organization, who is invited, and, for operators, everybody. */

const organizationRoles = ['owner', 'admin', 'member'] as const;
export const organizationRole = z.enum(organizationRoles).meta({
  id: 'OrganizationRole',
  description: 'An owner manages everything of the organization, an admin all but owners; a member reads.',
});

export const person = z
  .object({
    id,
    email: z.string(),
    role: z
      .enum(['operator', 'member'])
      .meta({ description: 'an operator runs the platform and may do everything in every organization' }),
  })
  .meta({ id: 'Person' });

const organizationMember = z
  .object({
    id,
    email: z.string(),
    role: organizationRole,
    joined_at: time,
    second_factor: z.boolean(),
    last_seen_at: time.nullable(),
  })
  .meta({ id: 'OrganizationMember' });

const invitation = z
  .object({
    id,
    email: z.string(),
    role: organizationRole,
    state: z.enum(['pending', 'expired', 'accepted', 'revoked']),
    invited_by: z.string().meta({ description: 'an email' }),
    created_at: time,
    expires_at: time,
  })
  .meta({ id: 'Invitation' });

const organizationDomain = z
  .object({
    domain: z.string().meta({ description: 'in lower case and punycode' }),
    role: z.enum(['admin', 'member']).meta({ description: 'what people of the domain become' }),
    mapped_by: z.string().meta({ description: 'an email' }),
    mapped_at: time,
  })
  .meta({ id: 'OrganizationDomain' });

export const identity = z
  .object({
    issuer: z.string().meta({ description: 'the provider, as it names itself' }),
    linked_at: time,
  })
  .meta({ id: 'Identity', description: 'That an identity provider says who a person is.' });

const personInList = person
  .extend({
    organizations: z.array(z.object({ id, name: z.string(), role: organizationRole })),
    second_factor: z.boolean(),
    identities: z.array(identity),
    created_at: time,
    last_seen_at: time.nullable(),
  })
  .meta({ id: 'PersonInList' });

export const peopleEndpoints = {
  members: endpoint({
    method: 'GET',
    path: '/api/organizations/{organization_id}/members',
    who: 'members:read',
    summary: 'The people of an organization',
    query: pageQuery,
    answer: json(page(organizationMember)),
  }),
  setMemberRole: endpoint({
    method: 'PUT',
    path: '/api/organizations/{organization_id}/members/{member_id}/role',
    who: 'members:manage',
    summary: 'Give a person another role',
    description:
      'Making or unmaking an owner takes an owner. The last owner stays one (409 `conflict`). Ends nobody’s session; the role counts from the next request on.',
    body: z.strictObject({ role: organizationRole }),
    answer: json(z.object({ member: organizationMember })),
    audit: ['membership.set_role'],
    errors: ['conflict'],
  }),
  removeMember: endpoint({
    method: 'DELETE',
    path: '/api/organizations/{organization_id}/members/{member_id}',
    who: 'members:manage',
    summary: 'Take a person out of the organization',
    description:
      'The account stays, with its other organizations. The last owner cannot go (409 `conflict`).',
    body: emptyBody,
    answer: nothing,
    audit: ['membership.remove'],
    errors: ['conflict'],
  }),
  leave: endpoint({
    method: 'POST',
    path: '/api/organizations/{organization_id}/leave',
    who: 'organization:read',
    summary: 'Leave the organization oneself',
    body: emptyBody,
    answer: nothing,
    audit: ['membership.remove'],
    errors: ['conflict'],
  }),
  invitations: endpoint({
    method: 'GET',
    path: '/api/organizations/{organization_id}/invitations',
    who: 'members:manage',
    summary: 'The invitations of an organization, the latest first',
    query: pageQuery,
    answer: json(page(invitation)),
  }),
  invite: endpoint({
    method: 'POST',
    path: '/api/organizations/{organization_id}/invitations',
    who: 'members:manage',
    summary: 'Invite a person',
    description:
      'An earlier open invitation of the same email is revoked. `link` is in this one answer only: only its hash is kept. It is good once, for seven days.',
    body: z.strictObject({ email: z.string().max(1_000), role: organizationRole }),
    answer: created(
      z.object({
        invitation,
        link: z.string(),
        mailed: z.boolean().meta({ description: 'whether the link was also sent by mail' }),
      }),
    ),
    audit: ['invitation.create'],
    errors: ['conflict'],
  }),
  revokeInvitation: endpoint({
    method: 'DELETE',
    path: '/api/organizations/{organization_id}/invitations/{invitation_id}',
    who: 'members:manage',
    summary: 'Revoke an invitation that is open',
    body: emptyBody,
    answer: nothing,
    audit: ['invitation.revoke'],
    errors: ['conflict'],
  }),
  domains: endpoint({
    method: 'GET',
    path: '/api/organizations/{organization_id}/domains',
    who: 'members:read',
    summary: 'Whose people join by single sign-on, by the domain of their email',
    answer: json(z.object({ data: z.array(organizationDomain) })),
  }),
  mapDomain: endpoint({
    method: 'PUT',
    path: '/api/organizations/{organization_id}/domains/{domain}',
    who: 'platform:organizations',
    summary: 'Take in people of a domain by single sign-on',
    description:
      'Who signs in with a verified email of this domain for the first time joins the organization with this role. Again with another role changes it for whoever comes later. A domain belongs to one organization (409 `conflict`), which has 50 at most; domains of public mail services are refused.',
    body: z.strictObject({ role: z.enum(['admin', 'member']) }),
    answer: json(z.object({ domain: organizationDomain })),
    audit: ['organization.map_domain'],
    errors: ['conflict'],
  }),
  unmapDomain: endpoint({
    method: 'DELETE',
    path: '/api/organizations/{organization_id}/domains/{domain}',
    who: 'platform:organizations',
    summary: 'Take in nobody of a domain any more',
    description:
      'Nobody of it signs in by single sign-on from then on. Who joined stays a member, with the sessions that run.',
    body: emptyBody,
    answer: nothing,
    audit: ['organization.unmap_domain'],
  }),
  everybody: endpoint({
    method: 'GET',
    path: '/api/people',
    who: 'platform:people',
    summary: 'Every person with an account',
    query: pageQuery,
    answer: json(page(personInList)),
  }),
  setOperator: endpoint({
    method: 'PUT',
    path: '/api/people/{member_id}/operator',
    who: 'platform:people',
    summary: 'Make a person an operator, or no longer one',
    description:
      'Nobody changes this of themselves (409 `conflict`), so that an operator is always left. Ends the person’s sessions.',
    body: z.strictObject({ operator: z.boolean() }),
    answer: json(z.object({ member: person })),
    audit: ['member.set_operator'],
    errors: ['conflict'],
  }),
  makePasswordResetLink: endpoint({
    method: 'POST',
    path: '/api/people/{member_id}/password-reset-link',
    who: 'platform:people',
    summary: 'A link by which a person chooses a new password',
    description: 'For where no mail is configured. Good once, for one hour.',
    body: emptyBody,
    answer: created(z.object({ link: z.string(), expires_at: time })),
    audit: ['member.make_password_reset_link'],
  }),
  unlinkPersonIdentity: endpoint({
    method: 'POST',
    path: '/api/people/{member_id}/identities/unlink',
    who: 'platform:people',
    summary: 'Have a person sign in by an identity provider no more',
    description:
      'For who has another identity there by now. Ends the person’s sessions that were opened by single sign-on. Refused (409 `conflict`) for who has no password, and so no other way to sign in.',
    body: z.strictObject({ issuer: z.string().max(1_000) }),
    answer: nothing,
    audit: ['member.unlink_identity'],
    errors: ['conflict'],
  }),
} as const;
