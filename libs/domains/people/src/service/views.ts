import { isoTime, timeOrNull } from '@gateway/admin-calls';
import type { Member } from '@gateway/auth-shared';
import { OPERATOR_LABEL, personLabel, type UnixMs } from '@gateway/base';
import { stateOfManagementToken, type ManagementToken } from '../core/management-tokens/management-token';
import type { Identity, Invitation, OrganizationDomain, OrganizationMember, Person } from '../core/model';
import { stateOf } from '../core/people/invitations';

export function memberView({ id, email, name, role }: Member) {
  return { id, email, name, role };
}

export function organizationMemberView(member: OrganizationMember) {
  return {
    id: member.id,
    email: member.email,
    name: member.name,
    role: member.role,
    joined_at: isoTime(member.joinedAt),
    second_factor: member.secondFactor,
    last_seen_at: timeOrNull(member.lastSeenAt),
  };
}

export function personView(person: Person) {
  return {
    ...memberView(person),
    organizations: person.memberships.map(({ organization: { id, name }, role }) => ({ id, name, role })),
    second_factor: person.secondFactor,
    disabled: person.disabled,
    identities: person.identities.map(identityView),
    created_at: isoTime(person.createdAt),
    last_seen_at: timeOrNull(person.lastSeenAt),
  };
}

export function identityView({ issuer, linkedAt }: Identity) {
  return { issuer, linked_at: isoTime(linkedAt) };
}

export function invitationView(invitation: Invitation, now: UnixMs) {
  return {
    id: invitation.id,
    email: invitation.email,
    role: invitation.role,
    state: stateOf(invitation, now),
    invited_by: invitation.invitedBy,
    created_at: isoTime(invitation.createdAt),
    expires_at: isoTime(invitation.expiresAt),
  };
}

/** Only operators map domains, and customers do not see which one did. */
export function organizationDomainView(
  { domain, role, mappedBy, mappedAt }: OrganizationDomain,
  isOperator: boolean,
) {
  return {
    domain,
    role,
    mapped_by: isOperator ? mappedBy : OPERATOR_LABEL,
    mapped_at: isoTime(mappedAt),
  };
}

interface TokenViewContext {
  readonly now: UnixMs;
  /** Customers do not see which operator created a token. */
  readonly isOperator: boolean;
}

export function managementTokenView(token: ManagementToken, { now, isOperator }: TokenViewContext) {
  const { creator } = token;
  return {
    id: token.id,
    name: token.name,
    last4: token.last4,
    role: token.scope?.role ?? ('operator' as const),
    access: token.access,
    state: stateOfManagementToken(token, now),
    created_by: creator.memberRole === 'operator' && !isOperator ? null : personLabel(creator),
    created_at: isoTime(token.createdAt),
    expires_on: token.expiresOn,
    revoked_at: timeOrNull(token.revokedAt),
    last_used_at: timeOrNull(token.lastUsedAt),
  };
}
