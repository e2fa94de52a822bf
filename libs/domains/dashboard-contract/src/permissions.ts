/**
 * What a person may be allowed to do, by name. Which role holds which is a
 * table of auth, the only place that decides; a test holds the two together.
 */
export const permissions = {
  'organization:read': 'See the organization and its limits.',
  'organization:limits': 'Change the limits and caps of the organization.',
  'members:read': 'See who belongs to the organization.',
  'members:manage': 'Invite, remove and change members and admins.',
  'members:manage_owners': 'Invite, remove and change owners.',
  'keys:read': 'See keys, without their secrets.',
  'keys:manage': 'Create, change, rotate and revoke keys.',
  'usage:read': 'See usage and generations.',
  'credit:read': 'See balance and statement.',
  'credit:alerts': 'Change when and whom a low balance is told to.',
  'audit:read': 'See the audit log of the organization.',
  'playground:use': 'Spend credit in the playground.',
  'platform:organizations': 'Create, suspend and resume organizations, and see all of them.',
  'platform:credit': 'Add and correct credit.',
  'platform:people': 'See all people, reset their passwords, and make operators.',
  'platform:audit': 'See the audit log of everything.',
  'platform:models': 'See and drain models, targets and providers.',
  'platform:settlement': 'See settlement and its faults, and mend them.',
} as const;

export type Permission = keyof typeof permissions;

export function isPlatformPermission(name: Permission): boolean {
  return name.startsWith('platform:');
}
