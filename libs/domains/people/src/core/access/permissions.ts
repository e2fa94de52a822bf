import type { OrganizationRole } from '../model';
import type { MemberRole } from '@gateway/auth-shared';

const everybody: readonly OrganizationRole[] = ['owner', 'admin', 'member'];
const managers: readonly OrganizationRole[] = ['owner', 'admin'];
const owners: readonly OrganizationRole[] = ['owner'];
/** No role in an organization is enough: only operators may. */
const operators: readonly OrganizationRole[] = [];

/**
 * Who may what: the one place that says so. Operators may everything, in every
 * organization. The names are those of the dashboard's contract.
 */
const rolesWith = {
  'organization:read': everybody,
  'organization:limits': managers,
  'members:read': everybody,
  'members:manage': managers,
  'members:manage_owners': owners,
  'keys:read': everybody,
  'keys:manage': managers,
  'usage:read': everybody,
  'credit:read': everybody,
  'credit:alerts': managers,
  'audit:read': managers,
  'playground:use': managers,
  'platform:organizations': operators,
  'platform:credit': operators,
  'platform:people': operators,
  'platform:audit': operators,
  'platform:models': operators,
  'platform:settlement': operators,
} as const satisfies Readonly<Record<string, readonly OrganizationRole[]>>;

export type Permission = keyof typeof rolesWith;

const PERMISSIONS = Object.keys(rolesWith) as Permission[];

export function isPermission(name: string): name is Permission {
  return Object.hasOwn(rolesWith, name);
}

export function isPlatformPermission(permission: Permission): boolean {
  return permission.startsWith('platform:');
}

/** Whoever is asked about: a member, and what they are in the organization that is meant, if anything. */
export interface Standing {
  readonly memberRole: MemberRole;
  readonly organizationRole: OrganizationRole | undefined;
}

export function mayDo({ memberRole, organizationRole }: Standing, permission: Permission): boolean {
  if (memberRole === 'operator') return true;
  const roles: readonly OrganizationRole[] = rolesWith[permission];
  return organizationRole !== undefined && roles.includes(organizationRole);
}

/** Everything that a standing allows in an organization. */
export function organizationPermissions(standing: Standing): readonly Permission[] {
  return PERMISSIONS.filter((name) => !isPlatformPermission(name) && mayDo(standing, name));
}

/** Everything that a member may do beside organizations. */
export function platformPermissions(memberRole: MemberRole): readonly Permission[] {
  return PERMISSIONS.filter(
    (name) => isPlatformPermission(name) && mayDo({ memberRole, organizationRole: undefined }, name),
  );
}
