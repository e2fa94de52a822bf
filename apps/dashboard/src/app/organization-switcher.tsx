import { useNavigate, useRouterState } from '@tanstack/react-router';
import { MAX_IN_SWITCHER, type Organization } from '../api/organizations';
import { Icon, Mark } from '../ui/icons';
import { Menu, MenuItem, MenuLabel, MenuLine } from '../ui/menu';
import { visible } from '../ui/values';
import { MAIN_NAVIGATION, ORGANIZATION_NAVIGATION } from './navigation';

interface SwitcherProps {
  readonly current: Organization | undefined;
  /** The newest organizations. */
  readonly organizations: readonly Organization[];
  readonly onNavigate: (() => void) | undefined;
  /** Opens the search of all organizations. */
  readonly onSearch: () => void;
}

/** The page that exists in every organization. From a key or a generation, the switcher goes to its list. */
function samePageOf(pathname: string): string {
  const name = pathname.split('/')[3];
  const pages = [...MAIN_NAVIGATION, ...ORGANIZATION_NAVIGATION].map(({ to }) => to);
  return pages.find((page) => page.split('/')[3] === name) ?? '/o/$organizationId';
}

/** Navigates to the same page of another organization, or to its overview. */
export function OrganizationSwitcher({ current, organizations, onNavigate, onSearch }: SwitcherProps) {
  const navigate = useNavigate();
  const pathname = useRouterState({ select: (state) => state.location.pathname });
  const go = (organizationId: string) => {
    void navigate({ to: samePageOf(pathname), params: { organizationId } });
    onNavigate?.();
  };
  return (
    <Menu
      wide
      align="start"
      trigger={
        <button type="button" className="flex items-center gap-2.5 rounded-md p-1 text-left hover:bg-sunken">
          <Mark />
          <span className="min-w-0 flex-1">
            <span className="block truncate text-base leading-5 font-semibold">
              <bdi>{current ? visible(current.name) : 'Inference Gateway'}</bdi>
            </span>
            <span className="block truncate text-xs text-ink-faint">
              {current?.suspended ? 'Suspended' : 'Inference Gateway'}
            </span>
          </span>
          <span className="sr-only">Switch organization</span>
          <Icon name="updown" className="text-ink-faint" />
        </button>
      }
    >
      <MenuLabel>Organizations</MenuLabel>
      {organizations.map(({ id, name, suspended }) => (
        <MenuItem key={id} checked={id === current?.id} onSelect={() => go(id)}>
          <bdi>{visible(name)}</bdi>
          {suspended && <span className="text-ink-faint"> · Suspended</span>}
        </MenuItem>
      ))}
      {organizations.length >= MAX_IN_SWITCHER && (
        <>
          <MenuLine />
          <MenuItem icon="search" onSelect={onSearch}>
            Search all organizations
          </MenuItem>
        </>
      )}
      {organizations.length === 0 && <p className="px-2 pb-2 text-sm text-ink-soft">No organizations yet</p>}
    </Menu>
  );
}
