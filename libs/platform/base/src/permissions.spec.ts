import {
  hasPermission,
  isOpenToManagementTokens,
  isPermission,
  MANAGEMENT_TOKEN_ROLES,
  mayManagementTokensGrant,
  ORGANIZATION_ROLES,
  organizationPermissions,
  platformPermissions,
  type Permission,
} from './permissions';

const ROLES = [...ORGANIZATION_ROLES, 'operator'] as const;
type Role = (typeof ROLES)[number];

const EVERYONE = ROLES;
const DEVELOPERS = ['developer', 'admin', 'owner', 'operator'] as const;
const BILLING = ['billing', 'admin', 'owner', 'operator'] as const;
const ADMINS = ['admin', 'owner', 'operator'] as const;
const OWNERS = ['owner', 'operator'] as const;
const OPERATORS = ['operator'] as const;

/** What management tokens may do: nothing, read only, or also change. */
type Tokens = 'closed' | 'read' | 'read_write';

/** The roles with each permission and what tokens may do with it, written independently of the code. */
const EXPECTED: Readonly<Record<Permission, readonly [readonly Role[], Tokens]>> = {
  'organization:read': [EVERYONE, 'read'],
  'organization:limits': [ADMINS, 'read_write'],
  'organization:targets': [ADMINS, 'closed'],
  'organization:security': [OWNERS, 'closed'],
  // Operators have it as members of the organization only.
  'content_log:manage': [['owner'], 'closed'],
  'members:read': [EVERYONE, 'read'],
  'members:manage': [ADMINS, 'read_write'],
  'members:manage_owners': [OWNERS, 'closed'],
  'keys:read': [EVERYONE, 'read'],
  'keys:manage_own': [DEVELOPERS, 'closed'],
  'keys:manage': [ADMINS, 'closed'],
  'usage:read': [EVERYONE, 'read'],
  'credit:read': [EVERYONE, 'read'],
  'credit:alerts': [BILLING, 'read_write'],
  'audit:read': [ADMINS, 'read'],
  'playground:use': [DEVELOPERS, 'closed'],
  'management_tokens:manage': [ADMINS, 'closed'],
  'platform:organizations': [OPERATORS, 'read_write'],
  'platform:credit': [OPERATORS, 'read_write'],
  'platform:single_sign_on': [OPERATORS, 'closed'],
  'platform:people': [OPERATORS, 'read'],
  'platform:audit': [OPERATORS, 'read'],
  'platform:models': [OPERATORS, 'read_write'],
  'platform:catalogue': [OPERATORS, 'closed'],
  'platform:settlement': [OPERATORS, 'read_write'],
  'platform:notifications': [OPERATORS, 'read_write'],
  'platform:management_tokens': [OPERATORS, 'closed'],
};
const permissions = Object.keys(EXPECTED) as Permission[];

const rolesOf = (role: Role) =>
  role === 'operator'
    ? ({ memberRole: 'operator', organizationRole: undefined } as const)
    : ({ memberRole: 'member', organizationRole: role } as const);

it('an operator and an owner together have every permission, and the table names each', () => {
  const everything = [
    ...organizationPermissions({ memberRole: 'operator', organizationRole: 'owner' }),
    ...platformPermissions('operator'),
  ];
  expect(everything.sort()).toEqual([...permissions].sort());
});

it.each(permissions)(
  '%s belongs to the roles of the table, and is open to tokens as far as it says',
  (name) => {
    const [roles, tokens] = EXPECTED[name];
    expect(ROLES.filter((role) => hasPermission(rolesOf(role), name)).sort()).toEqual([...roles].sort());
    expect(hasPermission({ memberRole: 'member', organizationRole: undefined }, name)).toBe(false);
    expect(isOpenToManagementTokens(name, 'read', 'read')).toBe(tokens !== 'closed');
    expect(isOpenToManagementTokens(name, 'read_write', 'read')).toBe(tokens !== 'closed');
    expect(isOpenToManagementTokens(name, 'read', 'change')).toBe(false);
    expect(isOpenToManagementTokens(name, 'read_write', 'change')).toBe(tokens === 'read_write');
  },
);

it.each(['', 'keys:everything', 'constructor', '__proto__'])('"%s" is no permission', (name) => {
  expect(isPermission(name)).toBe(false);
  expect(isOpenToManagementTokens(name as Permission, 'read_write', 'read')).toBe(false);
});

it('a token has no role that creates tokens or keys, except that of an admin, and grants none that does', () => {
  expect([...MANAGEMENT_TOKEN_ROLES]).toEqual(['admin', 'billing', 'member']);
  expect(ORGANIZATION_ROLES.filter(mayManagementTokensGrant)).toEqual(['billing', 'member']);
});
