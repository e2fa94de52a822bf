import { useInfiniteQuery } from '@tanstack/react-query';
import { useNavigate } from '@tanstack/react-router';
import { keysQuery } from '../api/keys';
import { may, useSession } from '../api/session';
import type { IconName } from '../ui/icons';
import { visible } from '../ui/values';
import { useCurrentOrganization } from './current-organization';
import { OPERATOR, ORGANIZATION, WORK } from './navigation';
import { useSignOut } from './sign-out';
import { chooseTheme } from './theme';

export interface Command {
  readonly id: string;
  readonly label: string;
  readonly icon: IconName;
  readonly note?: string;
  readonly keys?: string;
  readonly run: () => void;
}

/** Shorter texts are the beginning of a name, not an id. */
const MIN_ID_CHARACTERS = 6;

/**
 * Everything that the palette offers to whoever is signed in, where they are.
 *
 * @param text what was typed: it may be an id of something that is not known here.
 */
export function useCommands(text: string): readonly Command[] {
  const navigate = useNavigate();
  const session = useSession();
  const signOut = useSignOut();
  const { id: organizationId, all } = useCurrentOrganization();
  const params = { organizationId: organizationId ?? '' };

  const places = [...(organizationId === undefined ? [] : [...WORK, ...ORGANIZATION]), ...OPERATOR]
    .filter(({ permission }) => may(session, permission, organizationId))
    .map(({ label, icon, to, shortcut }) => ({
      id: to,
      label,
      icon,
      ...(shortcut === undefined ? {} : { keys: `g ${shortcut}` }),
      ...(to.startsWith('/operator') ? { note: 'Operator' } : {}),
      run: () => void navigate({ to, params }),
    }));
  const create: Command[] =
    organizationId !== undefined && may(session, 'keys:manage', organizationId)
      ? [
          {
            id: 'create-key',
            label: 'Create a key',
            icon: 'plus',
            run: () => void navigate({ to: '/o/$organizationId/keys/new', params }),
          },
        ]
      : [];
  const { data: known } = useInfiniteQuery({
    ...keysQuery(params.organizationId),
    enabled: organizationId !== undefined && may(session, 'keys:read', organizationId),
  });
  const keys = (known?.pages ?? [])
    .flatMap(({ data }) => data)
    .map(({ id, name, last4 }) => ({
      id,
      label: visible(name),
      icon: 'key' as const,
      note: `Key …${last4}`,
      run: () => void navigate({ to: '/o/$organizationId/keys/$keyId', params: { ...params, keyId: id } }),
    }));
  const organizations = all
    .filter(({ id }) => id !== organizationId)
    .map(({ id, name }) => ({
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
    may(session, 'usage:read', organizationId)
      ? [
          {
            id: 'find',
            label: `Find generations of “${visible(id)}”`,
            note: 'Whole id of one, of a request or of an external user',
            icon: 'search',
            run: () => void navigate({ to: '/o/$organizationId/generations', params, search: { find: id } }),
          },
        ]
      : [];
  return [
    ...places,
    ...create,
    { id: 'account', label: 'Your account', icon: 'person', run: () => void navigate({ to: '/account' }) },
    {
      id: 'docs',
      label: 'API reference',
      icon: 'external',
      run: () => void window.open('/docs', '_blank', 'noopener'),
    },
    ...(['light', 'dark', 'system'] as const).map((theme) => ({
      id: theme,
      label: { light: 'Light theme', dark: 'Dark theme', system: 'Theme as the system' }[theme],
      icon: 'sun' as const,
      run: () => chooseTheme(theme),
    })),
    { id: 'sign-out', label: 'Sign out', icon: 'out', run: signOut },
    ...keys,
    ...organizations,
    ...find,
  ];
}
