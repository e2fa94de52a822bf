import { useQuery } from '@tanstack/react-query';
import { Link, useRouterState } from '@tanstack/react-router';
import { useEffect, useRef } from 'react';
import { operatorNotificationsQuery } from '../api/operator-notifications';
import { can, useSession } from '../api/session';
import { counted } from '../format/count';
import { Icon } from '../ui/icons';
import { Badge } from '../ui/notice';
import { AccountMenu } from './account-menu';
import { useCurrentOrganization } from './current-organization';
import {
  OPERATOR_NAVIGATION,
  ORGANIZATION_NAVIGATION,
  MAIN_NAVIGATION,
  type NavigationItem,
} from './navigation';
import { OrganizationSwitcher } from './organization-switcher';

export function Sidebar({
  onSearch,
  onNavigate,
}: {
  readonly onSearch: () => void;
  readonly onNavigate?: () => void;
}) {
  const { id, organization, newest } = useCurrentOrganization();
  const pathname = useRouterState({ select: (state) => state.location.pathname });
  const navigation = useRef<HTMLElement>(null);
  // The list is longer than some screens.
  useEffect(() => {
    const show = () =>
      navigation.current?.querySelector('[data-status=active]')?.scrollIntoView({ block: 'nearest' });
    show();
    window.addEventListener('resize', show);
    return () => window.removeEventListener('resize', show);
  }, [pathname]);
  return (
    <div className="flex h-full flex-col gap-4 p-3">
      <OrganizationSwitcher
        current={organization}
        organizations={newest}
        onNavigate={onNavigate}
        onSearch={onSearch}
      />
      <button
        type="button"
        onClick={onSearch}
        className="flex h-8 items-center gap-2 rounded-md border border-line bg-paper px-2 text-sm text-ink-faint hover:border-line-strong"
      >
        <Icon name="search" />
        <span className="flex-1 text-left">Search or jump to</span>
        <kbd className="font-sans text-2xs">{isMac() ? '⌘K' : 'Ctrl K'}</kbd>
      </button>
      <nav
        ref={navigation}
        aria-label="Main"
        className="grid flex-1 content-start gap-5 overflow-y-auto pb-6 [mask-image:linear-gradient(to_bottom,black_calc(100%-1.5rem),transparent)]"
      >
        {id !== undefined && (
          <NavigationList items={MAIN_NAVIGATION} organizationId={id} onNavigate={onNavigate} />
        )}
        {id !== undefined && (
          <NavigationList
            title="Organization"
            items={ORGANIZATION_NAVIGATION}
            organizationId={id}
            onNavigate={onNavigate}
            label={organization?.name}
          />
        )}
        <NavigationList
          title="Operator"
          items={OPERATOR_NAVIGATION}
          organizationId={id}
          onNavigate={onNavigate}
        />
      </nav>
      <AccountMenu />
    </div>
  );
}

interface NavigationListProps {
  readonly title?: string;
  readonly label?: string | undefined;
  readonly items: readonly NavigationItem[];
  readonly organizationId: string | undefined;
  readonly onNavigate: (() => void) | undefined;
}

function NavigationList({ title, items, organizationId, onNavigate }: NavigationListProps) {
  const session = useSession();
  const shown = items.filter(({ permission }) => can(session, permission, organizationId));
  if (shown.length === 0) return null;
  return (
    <div>
      {title !== undefined && <p className="px-2 pb-1 text-xs font-medium text-ink-faint">{title}</p>}
      <ul className="grid gap-px">
        {shown.map(({ label, icon, to, countsIncidents }) => (
          <li key={to}>
            <Link
              to={to}
              params={{ organizationId: organizationId ?? '' }}
              activeOptions={{ exact: to.endsWith('/'), includeSearch: false }}
              onClick={onNavigate}
              className="flex h-8 items-center gap-2.5 rounded-md px-2 text-sm text-ink-soft [@media(max-height:50rem)]:h-7 hover:bg-sunken hover:text-ink data-[status=active]:bg-sunken data-[status=active]:font-medium data-[status=active]:text-ink [&[data-status=active]_svg]:text-accent"
            >
              <Icon name={icon} />
              {label}
              {countsIncidents && <OpenIncidents />}
            </Link>
          </li>
        ))}
      </ul>
    </div>
  );
}

/** For operators, who otherwise see an incident only on its page. */
function OpenIncidents() {
  const { data } = useQuery(operatorNotificationsQuery);
  if (!data || data.incidents.length === 0) return null;
  return (
    <span className="ml-auto">
      <Badge tone="bad">{counted(data.incidents.length, 'incident')}</Badge>
    </span>
  );
}

const isMac = () => /Mac|iPhone|iPad/.test(navigator.userAgent);
