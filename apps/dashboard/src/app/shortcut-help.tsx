import { can, useSession } from '../api/session';
import { Dialog } from '../ui/dialog';
import { useCurrentOrganization } from './current-organization';
import { MAIN_NAVIGATION, ORGANIZATION_NAVIGATION } from './navigation';

interface ShortcutHelpProps {
  readonly open: boolean;
  readonly onOpenChange: (open: boolean) => void;
}

/** The keyboard shortcuts of the pages that the person may open. */
export function ShortcutHelp(props: ShortcutHelpProps) {
  const session = useSession();
  const { id: organizationId } = useCurrentOrganization();
  const pages = [...MAIN_NAVIGATION, ...ORGANIZATION_NAVIGATION].filter(
    ({ shortcut, permission }) =>
      shortcut !== undefined && organizationId !== undefined && can(session, permission, organizationId),
  );
  const shortcuts = [
    { keys: 'Ctrl K or ⌘ K', label: 'Search or jump to' },
    ...pages.map(({ label, shortcut }) => ({ keys: `g ${shortcut}`, label })),
    { keys: '?', label: 'Keyboard shortcuts' },
  ];
  return (
    <Dialog {...props} title="Keyboard shortcuts">
      <dl className="grid grid-cols-[auto_1fr] gap-x-6 gap-y-2 text-sm">
        {shortcuts.map(({ keys, label }) => (
          <div key={label} className="contents">
            <dt>
              <kbd className="font-sans text-ink-soft">{keys}</kbd>
            </dt>
            <dd>{label}</dd>
          </div>
        ))}
      </dl>
    </Dialog>
  );
}
