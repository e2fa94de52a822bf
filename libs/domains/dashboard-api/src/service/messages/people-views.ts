import { isoTime } from '@gateway/admin-calls';
import {
  InvitationState,
  MemberRole,
  OrganizationRole,
  SignInMethod,
  type GetSessionResponse,
  type Invitation,
  type InvitationForGuest,
  type Member,
  type Membership,
  type Session,
} from '@gateway/contracts/auth';

/** Maps people and their sessions to JSON. */

const ROLES = {
  [OrganizationRole.ORGANIZATION_ROLE_UNSPECIFIED]: 'member',
  [OrganizationRole.ORGANIZATION_ROLE_OWNER]: 'owner',
  [OrganizationRole.ORGANIZATION_ROLE_ADMIN]: 'admin',
  [OrganizationRole.ORGANIZATION_ROLE_DEVELOPER]: 'developer',
  [OrganizationRole.ORGANIZATION_ROLE_BILLING]: 'billing',
  [OrganizationRole.ORGANIZATION_ROLE_MEMBER]: 'member',
} as const satisfies Readonly<Record<OrganizationRole, string>>;

const ROLE_MESSAGES = {
  owner: OrganizationRole.ORGANIZATION_ROLE_OWNER,
  admin: OrganizationRole.ORGANIZATION_ROLE_ADMIN,
  developer: OrganizationRole.ORGANIZATION_ROLE_DEVELOPER,
  billing: OrganizationRole.ORGANIZATION_ROLE_BILLING,
  member: OrganizationRole.ORGANIZATION_ROLE_MEMBER,
} as const;

export function organizationRoleMessage(role: keyof typeof ROLE_MESSAGES): OrganizationRole {
  return ROLE_MESSAGES[role];
}

export function organizationRoleView(role: OrganizationRole) {
  return ROLES[role];
}

const INVITATION_STATES = {
  [InvitationState.INVITATION_STATE_UNSPECIFIED]: 'expired',
  [InvitationState.INVITATION_STATE_PENDING]: 'pending',
  [InvitationState.INVITATION_STATE_EXPIRED]: 'expired',
  [InvitationState.INVITATION_STATE_ACCEPTED]: 'accepted',
  [InvitationState.INVITATION_STATE_REVOKED]: 'revoked',
} as const satisfies Readonly<Record<InvitationState, string>>;

export function invitationView(invitation: Invitation) {
  return {
    id: invitation.id,
    email: invitation.email,
    role: ROLES[invitation.role],
    state: INVITATION_STATES[invitation.state],
    invited_by: invitation.invitedBy,
    created_at: isoTime(invitation.createdUnixMs),
    expires_at: isoTime(invitation.expiresUnixMs),
  };
}

export function invitationForGuestView({ organizationName, invitation, hasAccount }: InvitationForGuest) {
  if (!invitation) throw new Error('the response has no invitation');
  return {
    organization: { name: organizationName },
    email: invitation.email,
    role: ROLES[invitation.role],
    expires_at: isoTime(invitation.expiresUnixMs),
    has_account: hasAccount,
  };
}

function memberView({ id, email, role }: Member) {
  return { id, email, role: role === MemberRole.MEMBER_ROLE_OPERATOR ? 'operator' : 'member' } as const;
}

export function sessionStateView(state: GetSessionResponse) {
  const { member, session } = state;
  if (!member || !session) throw new Error('the session has no member');
  return {
    member: memberView(member),
    expires_at: isoTime(session.expiresUnixMs),
    idle_expires_at: isoTime(session.idleExpiresUnixMs),
    memberships: state.memberships.map(membershipView),
    permissions: state.platformPermissions,
    signed_in_by: methodOf(session),
    second_factor: state.secondFactor,
    has_password: state.hasPassword,
    second_factor_setup_required: state.secondFactorSetupRequired,
  };
}

function membershipView(membership: Membership) {
  return {
    organization: {
      id: membership.organizationId,
      name: membership.organizationName,
      suspended: membership.organizationSuspended,
    },
    role: ROLES[membership.role],
    permissions: membership.permissions,
  };
}

export function sessionView(session: Session, currentId: string) {
  return {
    id: session.id,
    device: session.device,
    ip_address: session.ipAddress,
    created_at: isoTime(session.createdUnixMs),
    last_seen_at: isoTime(session.lastSeenUnixMs),
    expires_at: isoTime(session.expiresUnixMs),
    signed_in_by: methodOf(session),
    current: session.id === currentId,
  };
}

function methodOf({ signedInBy }: Session): 'password' | 'oidc' {
  return signedInBy === SignInMethod.SIGN_IN_METHOD_OIDC ? 'oidc' : 'password';
}
