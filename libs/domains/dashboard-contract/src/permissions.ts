import type { Permission } from '@gateway/base';

export { isPermission, isPlatformPermission, type Permission } from '@gateway/base';

/** The descriptions of the permissions. */
export const permissions = {
  'organization:read': 'View the organization and its limits.',
  'organization:limits': 'Change the limits of the organization, up to its ceilings.',
  'organization:targets': 'Change the providers and regions that the organization’s requests may be sent to.',
  'organization:security': 'Decide whether people need a second factor.',
  'content_log:manage':
    'Turn the content log on and off, and read and erase prompts and responses. Operators have it only as owners.',
  'members:read': 'View members.',
  'members:manage': 'Invite and remove people other than owners, and change their roles.',
  'members:manage_owners': 'Invite and remove owners, and change their roles.',
  'keys:read': 'View keys, without their secrets.',
  'keys:manage_own': 'Create keys, and change, rotate and revoke one’s own.',
  'keys:manage': 'Change, rotate, revoke and transfer every key.',
  'usage:read': 'View usage and generations.',
  'credit:read': 'View balance and statement.',
  'credit:alerts': 'Change the low-balance alert.',
  'audit:read': 'View the audit log of the organization.',
  'playground:use': 'Use the playground, which spends credit.',
  'management_tokens:manage': 'Create, list and revoke management tokens of the organization.',
  'platform:organizations': 'View, create, suspend and resume all organizations, and set their ceilings.',
  'platform:single_sign_on': 'Map email domains to organizations for single sign-on.',
  'platform:credit': 'Add and remove credit.',
  'platform:people':
    'View all people, reset passwords and second factors, disable accounts, end sessions, and assign operators.',
  'platform:audit': 'View the platform audit log.',
  'platform:models':
    'View models and providers, disable models, drain targets, and edit the draft of the catalogue in the database.',
  'platform:catalogue':
    'Publish and roll back the catalogue in the database, test its targets, and store secrets of providers.',
  'platform:settlement': 'View billing health, and redeliver or discard dead letters.',
  'platform:notifications': 'View incidents, and set who is notified of them.',
  'platform:management_tokens': 'Create, list and revoke management tokens of the platform.',
} as const satisfies Readonly<Record<Permission, string>>;
