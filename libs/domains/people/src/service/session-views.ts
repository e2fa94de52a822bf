import { isoTime } from '@gateway/admin-calls';
import { idleExpiryOf, type Session } from '@gateway/auth-shared';
import { organizationPermissions, platformPermissions } from '@gateway/base';
import { DashboardError } from '@gateway/dashboard-contract';
import { needsSecondFactorSetup } from '../core/access/second-factor-setup';
import type { Membership } from '../core/model';
import type { PeoplePorts, StoredSession } from '../core/ports';
import { hasSecondFactor } from '../core/sign-in/second-factor';
import { findSession, type OpenedSession } from '../core/sign-in/sessions';
import { memberView } from './views';

/** The state of a session: its person, and what they may do. */
export async function sessionStateView(ports: PeoplePorts, session: StoredSession) {
  const [memberships, member, secondFactorSetupRequired] = await Promise.all([
    ports.memberships.listOf(session.member.id),
    ports.members.find(session.member.id),
    needsSecondFactorSetup(ports, session),
  ]);
  return {
    member: memberView(session.member),
    expires_at: isoTime(session.expiresAt),
    idle_expires_at: isoTime(idleExpiryOf(session, ports.settings.sessionIdleMs)),
    memberships: memberships.map(membershipView),
    permissions: [...platformPermissions(session.member.role)],
    signed_in_by: session.signedInBy,
    second_factor: member !== undefined && hasSecondFactor(member),
    time_zone: member?.timeZone ?? '',
    has_password: member?.passwordHash !== undefined,
    second_factor_setup_required: secondFactorSetupRequired,
  };
}

function membershipView({ organization, role }: Membership) {
  return {
    organization,
    role,
    permissions: [...organizationPermissions({ memberRole: 'member', organizationRole: role })],
  };
}

/** A new session with its token, which is returned only once. */
export function openedSessionView({ session, sessionToken }: OpenedSession) {
  return { session_token: sessionToken, expires_at: isoTime(session.expiresAt) };
}

/** @throws DashboardError `not_signed_in` if the session has ended meanwhile. */
export async function openedWithStateView(ports: PeoplePorts, opened: OpenedSession) {
  const session = await findSession(ports, opened.sessionToken);
  if (!session) throw new DashboardError('not_signed_in');
  return { ...openedSessionView(opened), state: await sessionStateView(ports, session) };
}

export function sessionInListView(session: Session, currentId: string) {
  return {
    id: session.id,
    device: session.device,
    ip_address: session.ipAddress,
    created_at: isoTime(session.createdAt),
    last_seen_at: isoTime(session.lastSeenAt),
    expires_at: isoTime(session.expiresAt),
    signed_in_by: session.signedInBy,
    current: session.id === currentId,
  };
}
