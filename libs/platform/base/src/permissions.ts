/** An operator has every permission. A member's permissions depend on their role in each organization. */
export type MemberRole = 'operator' | 'member';

export type OrganizationRole = 'owner' | 'admin' | 'member';

const anyRole: readonly OrganizationRole[] = ['owner', 'admin', 'member'];
const managers: readonly OrganizationRole[] = ['owner', 'admin'];
const owners: readonly OrganizationRole[] = ['owner'];
/** No role in an organization suffices: only operators have the permission. */
const operators: readonly OrganizationRole[] = [];

/**
 * The table of permissions: the roles that have each. Operators have every
 * permission in every organization. The contracts and the dashboard API use the
 * same names.
 */
const rolesWith = {
  'organization:read': anyRole,
  'organization:limits': managers,
  'organization:security': owners,
  'members:read': anyRole,
  'members:manage': managers,
  'members:manage_owners': owners,
  'keys:read': anyRole,
  'keys:manage': managers,
  'usage:read': anyRole,
  'credit:read': anyRole,
  'credit:alerts': managers,
  'audit:read': managers,
  'playground:use': managers,
  'platform:organizations': operators,
  'platform:credit': operators,
  'platform:people': operators,
  'platform:audit': operators,
  'platform:models': operators,
  'platform:settlement': operators,
  'platform:notifications': operators,
} as const satisfies Readonly<Record<string, readonly OrganizationRole[]>>;

export type Permission = keyof typeof rolesWith;

const PERMISSIONS = Object.keys(rolesWith) as Permission[];

export function isPermission(name: string): name is Permission {
  return Object.hasOwn(rolesWith, name);
}

export function isPlatformPermission(permission: Permission): boolean {
  return permission.startsWith('platform:');
}

/** A member's platform role, and their role in the organization, if any. */
export interface EffectiveRoles {
  readonly memberRole: MemberRole;
  readonly organizationRole: OrganizationRole | undefined;
}

export function hasPermission(
  { memberRole, organizationRole }: EffectiveRoles,
  permission: Permission,
): boolean {
  if (memberRole === 'operator') return true;
  const roles: readonly OrganizationRole[] = rolesWith[permission];
  return organizationRole !== undefined && roles.includes(organizationRole);
}

/** The permissions in an organization that the roles grant. */
export function organizationPermissions(roles: EffectiveRoles): readonly Permission[] {
  return PERMISSIONS.filter((name) => !isPlatformPermission(name) && hasPermission(roles, name));
}

/** The permissions outside organizations that the role grants. */
export function platformPermissions(memberRole: MemberRole): readonly Permission[] {
  return PERMISSIONS.filter(
    (name) => isPlatformPermission(name) && hasPermission({ memberRole, organizationRole: undefined }, name),
  );
}
