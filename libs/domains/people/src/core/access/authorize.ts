import { GatewayError } from '@gateway/errors';
import {
  forbidden,
  notFound,
  type AdminRefusal,
  type Actor,
  type Session,
  isIdLike,
} from '@gateway/auth-shared';
import type { PeoplePorts } from '../ports';
import { findSession, touchSession } from '../sign-in/sessions';
import { decideForManagementToken } from '../management-tokens/authorize-management-token';
import { stateOfManagementToken } from '../management-tokens/management-token';
import { needsSecondFactorSetup } from './second-factor-setup';
import {
  hasPermission,
  isOpenToManagementTokens,
  isPermission,
  isPlatformPermission,
  type OrganizationRole,
  type Permission,
} from '@gateway/base';

export interface Authorize {
  readonly sessionToken: string;
  /** Undefined: being signed in is enough. */
  readonly permission: Permission | undefined;
  readonly organizationId: string | undefined;
  readonly ipAddress: string;
  /** No person caused the request, so it does not extend the session. */
  readonly background: boolean;
}

export type Authorization =
  | {
      readonly kind: 'allowed';
      readonly session: Session;
      /** The member's role in the organization of the request, if any. */
      readonly organizationRole: OrganizationRole | undefined;
    }
  | {
      readonly kind: 'not_signed_in' | 'forbidden' | 'no_such_organization' | 'second_factor_setup_required';
    };

/**
 * Authenticates the session and checks its member's permission. An organization
 * of others looks the same as one that does not exist.
 */
export async function authorize(
  ports: Pick<PeoplePorts, 'sessions' | 'memberships' | 'secrets' | 'clock' | 'settings'>,
  { sessionToken, permission, organizationId, ipAddress, background }: Authorize,
): Promise<Authorization> {
  const session = background
    ? await findSession(ports, sessionToken)
    : await touchSession(ports, sessionToken, ipAddress);
  if (!session) return { kind: 'not_signed_in' };
  let organizationRole: OrganizationRole | undefined;
  if (permission !== undefined) {
    if (await needsSecondFactorSetup(ports, session)) return { kind: 'second_factor_setup_required' };
    const decision = await decide(ports, session.member, permission, organizationId);
    if (decision.kind !== 'allowed') return decision;
    ({ organizationRole } = decision);
  }
  return { kind: 'allowed', session, organizationRole };
}

/** A refusal if the actor lacks the permission now, whatever the assertion says. */
export async function refuseUnlessPermitted(
  ports: PermissionPorts,
  actor: Actor,
  permission: Permission,
  organizationId?: string,
): Promise<AdminRefusal | undefined> {
  const kind = await decisionFor(ports, actor, permission, organizationId);
  if (kind === 'allowed') return undefined;
  return kind === 'forbidden' ? forbidden() : notFound('organization');
}

/** What `refuseUnlessPermitted` needs. */
export type PermissionPorts = Pick<PeoplePorts, 'members' | 'memberships' | 'managementTokens' | 'clock'>;

async function decisionFor(
  ports: PermissionPorts,
  { id, tokenAccess }: Actor,
  permission: Permission,
  organizationId: string | undefined,
): Promise<PermissionDecision['kind']> {
  if (!isIdLike(id)) return 'forbidden';
  if (tokenAccess === undefined) {
    const member = await ports.members.find(id);
    return member ? (await decide(ports, member, permission, organizationId)).kind : 'forbidden';
  }
  // Whether the call changes something was checked against its contract.
  if (!isOpenToManagementTokens(permission, tokenAccess, 'read')) return 'forbidden';
  const token = await ports.managementTokens.find(id);
  if (!token || stateOfManagementToken(token, ports.clock.now()) !== 'active') return 'forbidden';
  return decideForManagementToken(ports, token, permission, organizationId);
}

type PermissionDecision =
  | { readonly kind: 'allowed'; readonly organizationRole: OrganizationRole | undefined }
  | { readonly kind: 'forbidden' | 'no_such_organization' };

async function decide(
  { memberships }: Pick<PeoplePorts, 'memberships'>,
  member: Session['member'],
  permission: Permission,
  organizationId: string | undefined,
): Promise<PermissionDecision> {
  const memberRole = member.role;
  if (isPlatformPermission(permission)) {
    if (!hasPermission({ memberRole, organizationRole: undefined }, permission)) return { kind: 'forbidden' };
    if (organizationId === undefined) return { kind: 'allowed', organizationRole: undefined };
  }
  if (organizationId === undefined || !isIdLike(organizationId)) return { kind: 'no_such_organization' };
  const { exists, role: organizationRole } = await memberships.find(organizationId, member.id);
  if (!exists) return { kind: 'no_such_organization' };
  if (hasPermission({ memberRole, organizationRole }, permission)) {
    return { kind: 'allowed', organizationRole };
  }
  const mayKnow = organizationRole !== undefined || memberRole === 'operator';
  return { kind: mayKnow ? 'forbidden' : 'no_such_organization' };
}

/** Undefined where a session or token is enough. An unknown access is an error of the caller, and never allowed. */
export function permissionOf(access: string): Permission | undefined {
  if (access === 'signed_in' || access === 'authenticated') return undefined;
  if (isPermission(access)) return access;
  throw new GatewayError('invalid_request', {
    message: 'access is not a known access.',
    param: 'access',
  });
}
