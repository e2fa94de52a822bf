import { keepPreviousData, useQuery } from '@tanstack/react-query';
import { useNavigate } from '@tanstack/react-router';
import { foundKeysQuery } from '../api/keys';
import { foundOrganizationsQuery } from '../api/organizations';
import type { Command } from './command';
import { useFoundAnywhere } from './found-anywhere';
import { useFoundInOrganization } from './found-in-organization';
import { can, useSession } from '../api/session';
import { useDebounced } from '../ui/debounce';
import { visible } from '../ui/values';
import { useCurrentOrganization } from './current-organization';
import { OPERATOR_NAVIGATION, ORGANIZATION_NAVIGATION, MAIN_NAVIGATION } from './navigation';
import { useSignOut } from './sign-out';
import { chooseTheme } from './theme';

/** Shorter input is treated as part of a name, not as an id. */
const MIN_ID_CHARACTERS = 6;

/**
 * The commands of the palette for the current person and page.
 *
 * @param text the input, which may be the id of a generation, a request or an end user.
 */
export function useCommands(text: string): readonly Command[] {
  const navigate = useNavigate();
  const session = useSession();
  const signOut = useSignOut();
  const { id: organizationId, organization, newest } = useCurrentOrganization();
  const params = { organizationId: organizationId ?? '' };

  const pages = [
    ...(organizationId === undefined ? [] : [...MAIN_NAVIGATION, ...ORGANIZATION_NAVIGATION]),
    ...OPERATOR_NAVIGATION,
  ]
    .filter(({ permission }) => can(session, permission, organizationId))
    .map(({ label, icon, to, shortcut }) => ({
      id: to,
      label,
      icon,
      ...(shortcut === undefined ? {} : { keys: `g ${shortcut}` }),
      ...(to.startsWith('/operator') ? { note: 'Operator' } : {}),
      run: () => void navigate({ to, params }),
    }));
  const create: Command[] = [
    {
      id: 'create-key',
      label: 'Create key',
      icon: 'plus' as const,
      permission: 'keys:manage_own' as const,
      run: () => void navigate({ to: '/o/$organizationId/keys/new', params }),
    },
    {
      id: 'add-credit',
      label: 'Add credit',
      icon: 'plus' as const,
      permission: 'platform:credit' as const,
      run: () => void navigate({ to: '/o/$organizationId/credit', params, search: { action: 'add' } }),
    },
    {
      id: 'invite-member',
      label: 'Invite member',
      icon: 'plus' as const,
      permission: 'members:manage' as const,
      run: () => void navigate({ to: '/o/$organizationId/members', params, search: { action: 'invite' } }),
    },
  ]
    .filter(({ permission }) => organizationId !== undefined && can(session, permission, organizationId))
    .map(({ permission: _, ...command }) => ({
      ...command,
      ...(organization === undefined ? {} : { note: visible(organization.name) }),
    }));
  const searched = useDebounced(text.trim());
  const { data: foundKeys = [] } = useQuery({
    ...foundKeysQuery(params.organizationId, 'standard', searched),
    placeholderData: keepPreviousData,
    enabled: organizationId !== undefined && can(session, 'keys:read', organizationId),
  });
  const anywhere = useFoundAnywhere(searched);
  const inOrganization = useFoundInOrganization(organizationId, searched);
  const keys = foundKeys.map(({ id, name, last4 }) => ({
    id,
    label: visible(name),
    icon: 'key' as const,
    note: `Key …${last4}`,
    run: () => void navigate({ to: '/o/$organizationId/keys/$keyId', params: { ...params, keyId: id } }),
  }));
  const { data: foundOrganizations = [] } = useQuery({
    ...foundOrganizationsQuery(searched),
    enabled: searched !== '',
  });
  const others = new Map([...newest, ...foundOrganizations].map((one) => [one.id, one]));
  if (organizationId !== undefined) others.delete(organizationId);
  const organizations = [...others.values()].map(({ id, name }) => ({
    id,
    label: visible(name),
    icon: 'building' as const,
    note: 'Switch organization',
    run: () => void navigate({ to: '/o/$organizationId', params: { organizationId: id } }),
  }));
  const id = text.trim();
  const find: Command[] =
    id.length >= MIN_ID_CHARACTERS &&
    organizationId !== undefined &&
    can(session, 'usage:read', organizationId)
      ? [
          {
            id: 'find',
            label: `Search generations for “${visible(id)}”`,
            note: 'Generation, request or end-user ID',
            icon: 'search',
            run: () => void navigate({ to: '/o/$organizationId/generations', params, search: { find: id } }),
          },
        ]
      : [];
  return [
    ...pages,
    ...create,
    { id: 'account', label: 'Account', icon: 'person', run: () => void navigate({ to: '/account' }) },
    {
      id: 'docs',
      label: 'API reference',
      icon: 'external',
      run: () => void window.open('/docs', '_blank', 'noopener'),
    },
    ...(['light', 'dark', 'system'] as const).map((theme) => ({
      id: theme,
      label: { light: 'Light theme', dark: 'Dark theme', system: 'System theme' }[theme],
      icon: 'sun' as const,
      run: () => chooseTheme(theme),
    })),
    { id: 'sign-out', label: 'Sign out', icon: 'out', run: signOut },
    ...keys,
    ...inOrganization,
    ...anywhere.filter(({ id }) => !keys.some((key) => key.id === id)),
    ...organizations,
    ...find,
  ];
}
