import { useQuery } from '@tanstack/react-query';
import { Outlet, useRouterState } from '@tanstack/react-router';
import { useEffect, useRef, useState } from 'react';
import { watchInput } from '../api/activity';
import { sessionQuery } from '../api/session';
import { IconButton } from '../ui/button';
import { Drawer } from '../ui/dialog';
import { visible } from '../ui/values';
import { CommandPalette } from './command-palette';
import { ConfirmIdentity } from './confirm-identity';
import { useCurrentOrganization } from './current-organization';
import { Sidebar } from './sidebar';
import { useReportedTimeZone } from './report-time-zone';
import { ShortcutHelp } from './shortcut-help';
import { SignInAgain } from './sign-in-again';
import { useShortcuts } from './shortcuts';

const SESSION_CHECK_MS = 60_000;

/** The frame of every signed-in page. */
export function Shell() {
  const [searching, setSearching] = useState(false);
  const [menuOpen, setMenuOpen] = useState(false);
  const { organization } = useCurrentOrganization();
  const pathname = useRouterState({ select: (state) => state.location.pathname });
  const main = useRef<HTMLElement>(null);
  useEffect(watchInput, []);
  useReportedTimeZone();
  // Finds that the session has ended while no person uses the page.
  useQuery({ ...sessionQuery, refetchInterval: SESSION_CHECK_MS, refetchIntervalInBackground: true });
  const [helping, setHelping] = useState(false);
  useShortcuts({ onSearch: () => setSearching((open) => !open), onHelp: () => setHelping(true) });

  // Scroll to the top and move the focus on navigation.
  const previous = useRef(pathname);
  useEffect(() => {
    if (previous.current === pathname) return;
    previous.current = pathname;
    window.scrollTo(0, 0);
    main.current?.focus({ preventScroll: true });
  }, [pathname]);

  return (
    <div className="min-h-dvh lg:grid lg:grid-cols-[15rem_minmax(0,1fr)]">
      <a
        href="#main"
        className="sr-only focus:not-sr-only focus:fixed focus:top-2 focus:left-2 focus:z-70 focus:rounded-md focus:bg-paper focus:px-3 focus:py-2 focus:shadow-float"
      >
        Skip to content
      </a>
      <aside className="sticky top-0 hidden h-dvh border-r border-line bg-panel lg:block">
        <Sidebar onSearch={() => setSearching(true)} />
      </aside>
      <header className="sticky top-0 z-30 flex items-center justify-between border-b border-line bg-panel px-2 py-1.5 lg:hidden">
        <IconButton icon="menu" label="Open menu" onClick={() => setMenuOpen(true)} />
        <span className="min-w-0 truncate px-2 text-sm font-semibold">
          <bdi>{organization ? visible(organization.name) : 'Inference Gateway'}</bdi>
        </span>
        <IconButton icon="search" label="Search or jump to" onClick={() => setSearching(true)} />
      </header>
      <Drawer open={menuOpen} onOpenChange={setMenuOpen} title="Menu">
        <Sidebar
          onSearch={() => {
            setMenuOpen(false);
            setSearching(true);
          }}
          onNavigate={() => setMenuOpen(false)}
        />
      </Drawer>
      <main ref={main} id="main" tabIndex={-1} className="min-w-0 outline-none">
        <Outlet />
      </main>
      <CommandPalette open={searching} onOpenChange={setSearching} />
      <ShortcutHelp open={helping} onOpenChange={setHelping} />
      <ConfirmIdentity />
      <SignInAgain />
    </div>
  );
}
