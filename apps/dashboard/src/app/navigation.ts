import type { Permission } from '@gateway/dashboard-contract';
import type { IconName } from '../ui/icons';

/** An entry of the sidebar, the command palette and the keyboard shortcuts. */
export interface NavigationItem {
  readonly label: string;
  readonly icon: IconName;
  readonly to: string;
  /** Hidden without this permission. */
  readonly permission: Permission;
  /** The key after "g". */
  readonly shortcut?: string;
  /** Shows the number of open incidents. */
  readonly countsIncidents?: true;
}

const inOrganization = (path: string) => `/o/$organizationId${path}`;

export const MAIN_NAVIGATION: readonly NavigationItem[] = [
  {
    label: 'Overview',
    icon: 'overview',
    to: inOrganization('/'),
    permission: 'organization:read',
    shortcut: 'o',
  },
  { label: 'Keys', icon: 'key', to: inOrganization('/keys'), permission: 'keys:read', shortcut: 'k' },
  { label: 'Usage', icon: 'chart', to: inOrganization('/usage'), permission: 'usage:read', shortcut: 'u' },
  {
    label: 'Generations',
    icon: 'list',
    to: inOrganization('/generations'),
    permission: 'usage:read',
    shortcut: 'g',
  },
  {
    label: 'Credit',
    icon: 'wallet',
    to: inOrganization('/credit'),
    permission: 'credit:read',
    shortcut: 'c',
  },
  {
    label: 'Playground',
    icon: 'play',
    to: inOrganization('/playground'),
    permission: 'playground:use',
    shortcut: 'p',
  },
  {
    label: 'Models and prices',
    icon: 'layers',
    to: inOrganization('/models'),
    permission: 'organization:read',
    shortcut: 'd',
  },
];

export const ORGANIZATION_NAVIGATION: readonly NavigationItem[] = [
  {
    label: 'Projects',
    icon: 'layers',
    to: inOrganization('/projects'),
    permission: 'organization:read',
    shortcut: 'j',
  },
  {
    label: 'Limits',
    icon: 'sliders',
    to: inOrganization('/limits'),
    permission: 'organization:read',
    shortcut: 'l',
  },
  {
    label: 'Content log',
    icon: 'list',
    to: inOrganization('/content-log'),
    permission: 'organization:read',
  },
  {
    label: 'Members',
    icon: 'people',
    to: inOrganization('/members'),
    permission: 'members:read',
    shortcut: 'm',
  },
  {
    label: 'Management tokens',
    icon: 'tool',
    to: inOrganization('/management-tokens'),
    permission: 'management_tokens:manage',
    shortcut: 't',
  },
  { label: 'Audit log', icon: 'book', to: inOrganization('/audit'), permission: 'audit:read', shortcut: 'a' },
];

export const OPERATOR_NAVIGATION: readonly NavigationItem[] = [
  {
    label: 'Organizations',
    icon: 'building',
    to: '/operator/organizations',
    permission: 'platform:organizations',
  },
  {
    label: 'Platform usage',
    icon: 'chart',
    to: '/operator/usage',
    permission: 'platform:organizations',
  },
  { label: 'Catalogue', icon: 'layers', to: '/operator/catalogue', permission: 'platform:models' },
  { label: 'Settlement', icon: 'scale', to: '/operator/settlement', permission: 'platform:settlement' },
  {
    label: 'Notifications',
    icon: 'alert',
    to: '/operator/notifications',
    permission: 'platform:notifications',
    countsIncidents: true,
  },
  { label: 'People', icon: 'people', to: '/operator/people', permission: 'platform:people' },
  {
    label: 'Platform tokens',
    icon: 'tool',
    to: '/operator/management-tokens',
    permission: 'platform:management_tokens',
  },
  { label: 'Platform audit log', icon: 'book', to: '/operator/audit', permission: 'platform:audit' },
];
