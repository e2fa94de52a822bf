import { ORGANIZATION_ROLES } from '@gateway/base';
import { z } from 'zod';
import { created, EDGE_CHANGE_TIMEOUT_MS, EMAIL_TIMEOUT_MS, endpoint, json, noContent } from '../endpoint';
import { emptyBody, id, page, pageQuery, searchText, time, total } from '../fields';

/** Members and invitations of an organization, and, for operators, all people. */

export const organizationRole = z.enum(ORGANIZATION_ROLES).meta({
  id: 'OrganizationRole',
  description:
    'Members have read access. Developers also manage their own keys and use the playground, billing also changes credit alerts. Admins manage everything except owners, and owners everything.',
});

const personName = z.string().meta({ description: 'The name of the person; empty: not given.' });

export const person = z
  .object({
    id,
    email: z.string(),
    name: personName,
    role: z
      .enum(['operator', 'member'])
      .meta({ description: 'Operators run the platform and have all permissions in every organization.' }),
  })
  .meta({ id: 'Person' });

const organizationMember = z
  .object({
    id,
    email: z.string(),
    name: personName,
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
    invited_by: z
      .string()
      .meta({ description: 'A person, such as `Ada Lovelace <ada@example.com>`, or `Operator`.' }),
    created_at: time,
    expires_at: time,
  })
  .meta({ id: 'Invitation' });

/** A domain never grants the owner role. */
const domainRole = organizationRole.exclude(['owner']);

const organizationDomain = z
  .object({
    domain: z.string().meta({ description: 'In lower case and punycode.' }),
    role: domainRole.meta({ description: 'The role that people of the domain get.' }),
    mapped_by: z.string().meta({ description: 'An operator, for operators; otherwise `Operator`.' }),
    mapped_at: time,
  })
  .meta({ id: 'OrganizationDomain' });

export const identity = z
  .object({
    issuer: z.string().meta({ description: 'The issuer identifier of the identity provider.' }),
    linked_at: time,
  })
  .meta({ id: 'Identity', description: 'A link between an account and an identity provider.' });

const personInList = person
  .extend({
    organizations: z.array(z.object({ id, name: z.string(), role: organizationRole })),
    second_factor: z.boolean(),
    disabled: z.boolean().meta({ description: 'By an operator: cannot sign in.' }),
    identities: z.array(identity),
    created_at: time,
    last_seen_at: time.nullable(),
  })
  .meta({ id: 'PersonInList' });

export const peopleEndpoints = {
  members: endpoint({
    method: 'GET',
    path: '/api/organizations/{organization_id}/members',
    owner: 'auth',
    access: 'members:read',
    summary: 'List or search the members of an organization',
    query: pageQuery.extend({ search: searchText('email, the name or the id') }),
    response: json(page(organizationMember).extend({ total })),
    compressed: true,
  }),
  setMemberRole: endpoint({
    method: 'PUT',
    path: '/api/organizations/{organization_id}/members/{member_id}/role',
    owner: 'auth',
    timeoutMs: EDGE_CHANGE_TIMEOUT_MS,
    access: 'members:manage',
    summary: 'Change a member’s role',
    description:
      'Only owners can grant or revoke the owner role. The last owner keeps it (409 `conflict`). Sessions continue; the new role applies from the next request.',
    body: z.strictObject({ role: organizationRole }),
    response: json(z.object({ member: organizationMember })),
    audit: ['membership.set_role'],
    errors: ['conflict'],
  }),
  removeMember: endpoint({
    method: 'DELETE',
    path: '/api/organizations/{organization_id}/members/{member_id}',
    owner: 'auth',
    timeoutMs: EDGE_CHANGE_TIMEOUT_MS,
    access: 'members:manage',
    summary: 'Remove a member',
    description:
      'The account keeps its other organizations. The last owner cannot be removed (409 `conflict`).',
    body: emptyBody,
    response: noContent,
    audit: ['membership.remove'],
    errors: ['conflict'],
  }),
  leave: endpoint({
    method: 'POST',
    path: '/api/organizations/{organization_id}/leave',
    owner: 'auth',
    timeoutMs: EDGE_CHANGE_TIMEOUT_MS,
    access: 'organization:read',
    summary: 'Leave an organization',
    body: emptyBody,
    response: noContent,
    audit: ['membership.remove'],
    errors: ['conflict'],
  }),
  invitations: endpoint({
    method: 'GET',
    path: '/api/organizations/{organization_id}/invitations',
    owner: 'auth',
    access: 'members:manage',
    summary: 'List the invitations of an organization, newest first',
    query: pageQuery.extend({
      state: z
        .enum(['open', 'all'])
        .default('all')
        .meta({ description: '`open`: neither accepted nor revoked; they may have expired.' }),
    }),
    response: json(page(invitation)),
  }),
  invite: endpoint({
    method: 'POST',
    path: '/api/organizations/{organization_id}/invitations',
    owner: 'auth',
    timeoutMs: EMAIL_TIMEOUT_MS,
    access: 'members:manage',
    summary: 'Invite a person',
    description:
      'Revokes an earlier pending invitation of the same email. `link` is returned only here, as only its hash is stored. It works once and expires after seven days.',
    body: z.strictObject({ email: z.string().max(1_000), role: organizationRole }),
    response: created(
      z.object({
        invitation,
        link: z.string(),
        emailed: z.boolean().meta({ description: 'Whether the link was also sent by email.' }),
      }),
    ),
    audit: ['invitation.create'],
    errors: ['conflict', 'too_many_attempts'],
  }),
  revokeInvitation: endpoint({
    method: 'DELETE',
    path: '/api/organizations/{organization_id}/invitations/{invitation_id}',
    owner: 'auth',
    access: 'members:manage',
    summary: 'Revoke a pending invitation',
    body: emptyBody,
    response: noContent,
    audit: ['invitation.revoke'],
    errors: ['conflict'],
  }),
  domains: endpoint({
    method: 'GET',
    path: '/api/organizations/{organization_id}/domains',
    owner: 'auth',
    access: 'members:read',
    summary: 'List the email domains mapped to an organization for single sign-on',
    response: json(z.object({ data: z.array(organizationDomain) })),
  }),
  mapDomain: endpoint({
    method: 'PUT',
    path: '/api/organizations/{organization_id}/domains/{domain}',
    owner: 'auth',
    access: 'platform:single_sign_on',
    confirmed: true,
    summary: 'Map an email domain to an organization',
    description:
      'People who sign in by single sign-on for the first time with a verified email of this domain join the organization with this role. Mapping the domain again changes the role for people who join later. A domain maps to one organization (409 `conflict`), and an organization has at most 50 domains. Domains of public email services are refused.',
    body: z.strictObject({ role: domainRole }),
    response: json(z.object({ domain: organizationDomain })),
    audit: ['organization.map_domain'],
    errors: ['conflict'],
  }),
  unmapDomain: endpoint({
    method: 'DELETE',
    path: '/api/organizations/{organization_id}/domains/{domain}',
    owner: 'auth',
    access: 'platform:single_sign_on',
    summary: 'Unmap an email domain',
    description:
      'People of the domain can no longer sign in by single sign-on. Existing members and their sessions are not affected.',
    body: emptyBody,
    response: noContent,
    audit: ['organization.unmap_domain'],
  }),
  list: endpoint({
    method: 'GET',
    path: '/api/people',
    owner: 'auth',
    access: 'platform:people',
    summary: 'List or search all people with an account',
    query: pageQuery.extend({ search: searchText('email, the name or the id') }),
    response: json(page(personInList).extend({ total })),
    compressed: true,
  }),
  setOperator: endpoint({
    method: 'PUT',
    path: '/api/people/{member_id}/operator',
    owner: 'auth',
    timeoutMs: EDGE_CHANGE_TIMEOUT_MS,
    access: 'platform:people',
    confirmed: true,
    summary: 'Grant or revoke the operator role',
    description:
      'You cannot change your own operator role (409 `conflict`), so at least one operator always remains. Ends the person’s sessions.',
    body: z.strictObject({ operator: z.boolean() }),
    response: json(z.object({ member: person })),
    audit: ['member.set_operator'],
    errors: ['conflict'],
  }),
  createPasswordResetLink: endpoint({
    method: 'POST',
    path: '/api/people/{member_id}/password-reset-link',
    owner: 'auth',
    access: 'platform:people',
    confirmed: true,
    summary: 'Create a password reset link for a person',
    description: 'For installations without email. The link works once and expires after one hour.',
    body: emptyBody,
    response: created(z.object({ link: z.string(), expires_at: time })),
    audit: ['member.create_password_reset_link'],
  }),
  unlinkPersonIdentity: endpoint({
    method: 'POST',
    path: '/api/people/{member_id}/identities/unlink',
    owner: 'auth',
    access: 'platform:people',
    confirmed: true,
    summary: 'Unlink an identity provider from a person’s account',
    description:
      'For people whose identity at the provider has changed. Ends their sessions that were started by single sign-on. An account without a password cannot be unlinked from its only way to sign in (409 `conflict`).',
    body: z.strictObject({ issuer: z.string().max(1_000) }),
    response: noContent,
    audit: ['member.unlink_identity'],
    errors: ['conflict'],
  }),
  resetSecondFactor: endpoint({
    method: 'POST',
    path: '/api/people/{member_id}/second-factor/reset',
    owner: 'auth',
    timeoutMs: EDGE_CHANGE_TIMEOUT_MS,
    access: 'platform:people',
    confirmed: true,
    summary: 'Remove a person’s lost second factor',
    description: 'Ends the person’s sessions. The person gets an email.',
    body: emptyBody,
    response: noContent,
    audit: ['member.reset_second_factor'],
    errors: ['conflict'],
  }),
  setDisabled: endpoint({
    method: 'PUT',
    path: '/api/people/{member_id}/disabled',
    owner: 'auth',
    timeoutMs: EDGE_CHANGE_TIMEOUT_MS,
    access: 'platform:people',
    confirmed: true,
    summary: 'Disable or enable an account',
    description:
      'A disabled person cannot sign in. Disabling ends the person’s sessions; keys of organizations keep working. The person gets an email.',
    body: z.strictObject({ disabled: z.boolean() }),
    response: noContent,
    audit: ['member.disable', 'member.enable'],
    errors: ['conflict'],
  }),
  endSessions: endpoint({
    method: 'POST',
    path: '/api/people/{member_id}/sessions/end',
    owner: 'auth',
    timeoutMs: EDGE_CHANGE_TIMEOUT_MS,
    access: 'platform:people',
    summary: 'End all sessions of a person',
    description: 'The person gets an email.',
    body: emptyBody,
    response: noContent,
    audit: ['member.end_sessions'],
    errors: ['conflict'],
  }),
} as const;
