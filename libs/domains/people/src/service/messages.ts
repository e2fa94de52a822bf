import type { UnixMs } from '@gateway/base';
import {
  InvitationState,
  MemberRole,
  OrganizationRole,
  SignInMethod,
  type Invitation as InvitationMessage,
  type Member as MemberMessage,
  type OpenSessionResponse,
  type SignedIn as SignedInMessage,
  type Membership as MembershipMessage,
  type Session as SessionMessage,
} from '@gateway/contracts/auth';
import { isRefusal } from '@gateway/errors';
import type * as shared from '@gateway/auth-shared';
import { idleExpiryOf } from '@gateway/auth-shared';
import { organizationPermissions } from '@gateway/base';
import type * as core from '../core/model';
import { stateOf } from '../core/people/invitations';
import type { OpenedSession } from '../core/sign-in/sessions';
import { missing, refusalMessage } from '@gateway/auth-shared/service';

/** Conversions between core types and proto messages. */

const MESSAGE_OF_MEMBER_ROLE: Readonly<Record<shared.MemberRole, MemberRole>> = {
  operator: MemberRole.MEMBER_ROLE_OPERATOR,
  member: MemberRole.MEMBER_ROLE_MEMBER,
};

const MESSAGE_OF_ORGANIZATION_ROLE: Readonly<Record<core.OrganizationRole, OrganizationRole>> = {
  owner: OrganizationRole.ORGANIZATION_ROLE_OWNER,
  admin: OrganizationRole.ORGANIZATION_ROLE_ADMIN,
  developer: OrganizationRole.ORGANIZATION_ROLE_DEVELOPER,
  billing: OrganizationRole.ORGANIZATION_ROLE_BILLING,
  member: OrganizationRole.ORGANIZATION_ROLE_MEMBER,
};

const ORGANIZATION_ROLE_OF_MESSAGE: Readonly<Partial<Record<OrganizationRole, core.OrganizationRole>>> = {
  [OrganizationRole.ORGANIZATION_ROLE_OWNER]: 'owner',
  [OrganizationRole.ORGANIZATION_ROLE_ADMIN]: 'admin',
  [OrganizationRole.ORGANIZATION_ROLE_DEVELOPER]: 'developer',
  [OrganizationRole.ORGANIZATION_ROLE_BILLING]: 'billing',
  [OrganizationRole.ORGANIZATION_ROLE_MEMBER]: 'member',
};

const MESSAGE_OF_METHOD: Readonly<Record<shared.SignInMethod, SignInMethod>> = {
  password: SignInMethod.SIGN_IN_METHOD_PASSWORD,
  oidc: SignInMethod.SIGN_IN_METHOD_OIDC,
};

export function memberRoleOf(role: MemberRole): shared.MemberRole {
  if (role === MemberRole.MEMBER_ROLE_OPERATOR) return 'operator';
  if (role === MemberRole.MEMBER_ROLE_MEMBER) return 'member';
  throw missing('role');
}

export function organizationRoleOf(role: OrganizationRole): core.OrganizationRole {
  const known = ORGANIZATION_ROLE_OF_MESSAGE[role];
  if (known === undefined) throw missing('role');
  return known;
}

export function organizationRoleMessage(role: core.OrganizationRole): OrganizationRole {
  return MESSAGE_OF_ORGANIZATION_ROLE[role];
}

export function memberMessage({ id, email, role }: shared.Member): MemberMessage {
  return { id, email, role: MESSAGE_OF_MEMBER_ROLE[role] };
}

/** A new session with its token, which is returned only once. */
export function openedSessionMessage({ session, sessionToken }: OpenedSession): SignedInMessage {
  const expiresUnixMs = BigInt(session.expiresAt);
  return { sessionToken, expiresUnixMs, member: memberMessage(session.member) };
}

export function openSessionResponse(result: OpenedSession | shared.AdminRefusal): OpenSessionResponse {
  return isRefusal(result)
    ? { outcome: { $case: 'refusal', value: refusalMessage(result) } }
    : { outcome: { $case: 'signedIn', value: openedSessionMessage(result) } };
}

const MESSAGE_OF_INVITATION_STATE: Readonly<Record<ReturnType<typeof stateOf>, InvitationState>> = {
  pending: InvitationState.INVITATION_STATE_PENDING,
  expired: InvitationState.INVITATION_STATE_EXPIRED,
  accepted: InvitationState.INVITATION_STATE_ACCEPTED,
  revoked: InvitationState.INVITATION_STATE_REVOKED,
};

export function invitationMessage(invitation: core.Invitation, now: UnixMs): InvitationMessage {
  return {
    id: invitation.id,
    email: invitation.email,
    role: MESSAGE_OF_ORGANIZATION_ROLE[invitation.role],
    state: MESSAGE_OF_INVITATION_STATE[stateOf(invitation, now)],
    invitedBy: invitation.invitedBy,
    createdUnixMs: BigInt(invitation.createdAt),
    expiresUnixMs: BigInt(invitation.expiresAt),
  };
}

export function sessionMessage(session: shared.Session, sessionIdleMs: number): SessionMessage {
  return {
    id: session.id,
    member: memberMessage(session.member),
    device: session.device,
    ipAddress: session.ipAddress,
    createdUnixMs: BigInt(session.createdAt),
    lastSeenUnixMs: BigInt(session.lastSeenAt),
    expiresUnixMs: BigInt(session.expiresAt),
    idleExpiresUnixMs: BigInt(idleExpiryOf(session, sessionIdleMs)),
    signedInBy: MESSAGE_OF_METHOD[session.signedInBy],
  };
}

export function membershipMessage({ organization, role }: core.Membership): MembershipMessage {
  return {
    organizationId: organization.id,
    organizationName: organization.name,
    organizationSuspended: organization.suspended,
    role: MESSAGE_OF_ORGANIZATION_ROLE[role],
    permissions: [...organizationPermissions({ memberRole: 'member', organizationRole: role })],
  };
}
