/** An operator has nearly every permission. A member's permissions depend on their role in each organization. */
export type MemberRole = 'operator' | 'member';

/**
 * Every role reads what a member reads. Developers also manage their own keys and use the playground; billing also
 * changes the alerts about credit. Admins do both, and manage all keys, limits and people; owners do everything.
 */
export const ORGANIZATION_ROLES = ['owner', 'admin', 'developer', 'billing', 'member'] as const;

export type OrganizationRole = (typeof ORGANIZATION_ROLES)[number];

const anyRole: readonly OrganizationRole[] = ORGANIZATION_ROLES;
const developers: readonly OrganizationRole[] = ['owner', 'admin', 'developer'];
const accountants: readonly OrganizationRole[] = ['owner', 'admin', 'billing'];
const managers: readonly OrganizationRole[] = ['owner', 'admin'];
const owners: readonly OrganizationRole[] = ['owner'];
/** No role in an organization suffices: only operators have the permission. */
const operators: readonly OrganizationRole[] = [];

/**
 * The table of permissions: the roles that have each. Operators have every
 * permission in every organization, except those that are closed to them. The contracts and the dashboard API use the
 * same names.
 */
const rolesWith = {
  'organization:read': anyRole,
  'organization:limits': managers,
  'organization:targets': managers,
  'organization:security': owners,
  'content_log:manage': owners,
  'members:read': anyRole,
  'members:manage': managers,
  'members:manage_owners': owners,
  'keys:read': anyRole,
  'keys:manage_own': developers,
  'keys:manage': managers,
  'usage:read': anyRole,
  'credit:read': anyRole,
  'credit:alerts': accountants,
  'audit:read': managers,
  'playground:use': developers,
  'management_tokens:manage': managers,
  'platform:organizations': operators,
  'platform:single_sign_on': operators,
  'platform:credit': operators,
  'platform:people': operators,
  'platform:audit': operators,
  'platform:models': operators,
  'platform:catalogue': operators,
  'platform:settlement': operators,
  'platform:notifications': operators,
  'platform:management_tokens': operators,
} as const satisfies Readonly<Record<string, readonly OrganizationRole[]>>;

export type Permission = keyof typeof rolesWith;

/** What an operator may do only as a member of the organization, with a role that may. */
const CLOSED_TO_OPERATORS: ReadonlySet<Permission> = new Set(['content_log:manage']);

export function isClosedToOperators(permission: Permission): boolean {
  return CLOSED_TO_OPERATORS.has(permission);
}

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
  if (memberRole === 'operator' && !isClosedToOperators(permission)) return true;
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

/** What a management token may do: read only, or also change. */
export type ManagementTokenAccess = 'read' | 'read_write';

/**
 * The most that management tokens may do with each permission of their role. A permission that is not listed here is
 * closed to every token: API keys, tokens, sign-in, passwords, second factors, sessions, and what providers' secrets are
 * sent to, are managed by people only.
 */
const openToManagementTokens: Readonly<Partial<Record<Permission, ManagementTokenAccess>>> = {
  'organization:read': 'read',
  'organization:limits': 'read_write',
  'members:read': 'read',
  'members:manage': 'read_write',
  'keys:read': 'read',
  'usage:read': 'read',
  'credit:read': 'read',
  'credit:alerts': 'read_write',
  'audit:read': 'read',
  'platform:organizations': 'read_write',
  'platform:credit': 'read_write',
  'platform:people': 'read',
  'platform:audit': 'read',
  'platform:models': 'read_write',
  'platform:settlement': 'read_write',
  'platform:notifications': 'read_write',
};

/** Whether a token with this access may use a permission of its role. */
export function isOpenToManagementTokens(
  permission: Permission,
  access: ManagementTokenAccess,
  use: 'read' | 'change',
): boolean {
  const most = Object.hasOwn(openToManagementTokens, permission)
    ? openToManagementTokens[permission]
    : undefined;
  if (use === 'read') return most !== undefined;
  return most === 'read_write' && access === 'read_write';
}

/**
 * Whether a token may give a person this role in an organization. A role with a permission that is closed to tokens
 * would let the token do more through that person.
 */
export function mayManagementTokensGrant(organizationRole: OrganizationRole): boolean {
  const granted = organizationPermissions({ memberRole: 'member', organizationRole });
  return granted.every((permission) => isOpenToManagementTokens(permission, 'read', 'read'));
}

/** The roles that a token may have in its organization. */
export const MANAGEMENT_TOKEN_ROLES = [
  'admin',
  'billing',
  'member',
] as const satisfies readonly OrganizationRole[];

export type ManagementTokenRole = (typeof MANAGEMENT_TOKEN_ROLES)[number];
