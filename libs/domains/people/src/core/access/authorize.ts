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
import { getSession } from '../sign-in/sessions';
import { isPermission, isPlatformPermission, hasPermission, type Permission } from './permissions';

export interface Authorize {
  readonly sessionToken: string;
  /** Undefined: being signed in is enough. */
  readonly permission: string | undefined;
  readonly organizationId: string | undefined;
  readonly ipAddress: string;
}

export type Authorization =
  | { readonly kind: 'allowed'; readonly session: Session }
  | { readonly kind: 'not_signed_in' | 'forbidden' | 'no_such_organization' };

/**
 * Authenticates the session and checks its member's permission. An organization
 * of others looks the same as one that does not exist.
 */
export async function authorize(
  ports: Pick<PeoplePorts, 'sessions' | 'memberships' | 'secrets' | 'clock' | 'settings'>,
  { sessionToken, permission, organizationId, ipAddress }: Authorize,
): Promise<Authorization> {
  const session = await getSession(ports, sessionToken, ipAddress);
  if (!session) return { kind: 'not_signed_in' };
  if (permission === undefined) return { kind: 'allowed', session };
  const denial = await denialOf(ports, session.member, readPermission(permission), organizationId);
  return denial === undefined ? { kind: 'allowed', session } : { kind: denial };
}

/** The actor of changes by the gateway itself, such as seeding and scheduled work. It needs no permission. */
export const SYSTEM_ACTOR_ID = 'system';

/** A refusal if the actor lacks the permission. Every change calls it, whatever its caller has checked. */
export async function refuseUnlessPermitted(
  ports: Pick<PeoplePorts, 'members' | 'memberships'>,
  actor: Actor,
  permission: Permission,
  organizationId?: string,
): Promise<AdminRefusal | undefined> {
  if (actor.id === SYSTEM_ACTOR_ID) return undefined;
  const member = isIdLike(actor.id) ? await ports.members.find(actor.id) : undefined;
  if (!member) return forbidden();
  const denial = await denialOf(ports, member, permission, organizationId);
  if (denial === undefined) return undefined;
  return denial === 'forbidden' ? forbidden() : notFound('organization');
}

async function denialOf(
  { memberships }: Pick<PeoplePorts, 'memberships'>,
  member: Session['member'],
  permission: Permission,
  organizationId: string | undefined,
): Promise<'forbidden' | 'no_such_organization' | undefined> {
  const memberRole = member.role;
  if (isPlatformPermission(permission)) {
    if (!hasPermission({ memberRole, organizationRole: undefined }, permission)) return 'forbidden';
    if (organizationId === undefined) return undefined;
  }
  if (organizationId === undefined || !isIdLike(organizationId)) return 'no_such_organization';
  const { exists, role: organizationRole } = await memberships.find(organizationId, member.id);
  if (!exists) return 'no_such_organization';
  if (hasPermission({ memberRole, organizationRole }, permission)) return undefined;
  return organizationRole === undefined ? 'no_such_organization' : 'forbidden';
}

/** An unknown permission is an error of the caller, and never allowed. */
function readPermission(name: string): Permission {
  if (isPermission(name)) return name;
  throw new GatewayError('invalid_request', {
    message: 'permission is not a known permission.',
    param: 'permission',
  });
}
