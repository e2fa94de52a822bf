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
import { isPermission, isPlatformPermission, mayDo, type Permission } from './permissions';

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
 * Whose session it is and whether they may do this. Of an organization that is
 * not theirs nobody learns so much as whether it exists.
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

/** The actor that our own services are, who need no permission: for seeding, and for what time brings about. */
export const SYSTEM_ACTOR_ID = 'system';

/** Why an actor may not do this, as a refusal; undefined when they may. Changes ask it themselves, whoever calls. */
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
    if (!mayDo({ memberRole, organizationRole: undefined }, permission)) return 'forbidden';
    if (organizationId === undefined) return undefined;
  }
  if (organizationId === undefined || !isIdLike(organizationId)) return 'no_such_organization';
  const { exists, role: organizationRole } = await memberships.find(organizationId, member.id);
  if (!exists) return 'no_such_organization';
  if (mayDo({ memberRole, organizationRole }, permission)) return undefined;
  return organizationRole === undefined ? 'no_such_organization' : 'forbidden';
}

/** A name that the table does not know is a fault of the caller, and never allowed. */
function readPermission(name: string): Permission {
  if (isPermission(name)) return name;
  throw new GatewayError('invalid_request', {
    message: 'permission is not a known one.',
    param: 'permission',
  });
}
