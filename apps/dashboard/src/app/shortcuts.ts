import { useNavigate } from '@tanstack/react-router';
import { useEffect, useRef } from 'react';
import { can, useSession } from '../api/session';
import { useCurrentOrganization } from './current-organization';
import { ORGANIZATION_NAVIGATION, MAIN_NAVIGATION } from './navigation';

/** The maximum pause between "g" and the second key. */
const SEQUENCE_MS = 1_200;

interface Shortcuts {
  readonly onSearch: () => void;
  readonly onHelp: () => void;
}

/** ⌘K or Ctrl K opens the palette, "?" the list of shortcuts; "g" and a second key navigate to a page. */
export function useShortcuts({ onSearch, onHelp }: Shortcuts): void {
  const navigate = useNavigate();
  const session = useSession();
  const { id: organizationId } = useCurrentOrganization();
  const goPressedAt = useRef(Number.NEGATIVE_INFINITY);

  useEffect(() => {
    const onKey = (event: KeyboardEvent) => {
      if ((event.metaKey || event.ctrlKey) && event.key.toLowerCase() === 'k') {
        event.preventDefault();
        onSearch();
        return;
      }
      if (event.metaKey || event.ctrlKey || event.altKey || isTyping(event.target)) return;
      if (event.key === '?') {
        onHelp();
        return;
      }
      const isSecond = event.timeStamp - goPressedAt.current < SEQUENCE_MS;
      goPressedAt.current = !isSecond && event.key === 'g' ? event.timeStamp : Number.NEGATIVE_INFINITY;
      if (!isSecond || organizationId === undefined) return;
      const target = [...MAIN_NAVIGATION, ...ORGANIZATION_NAVIGATION].find(
        ({ shortcut }) => shortcut === event.key,
      );
      if (!target || !can(session, target.permission, organizationId)) return;
      event.preventDefault();
      void navigate({ to: target.to, params: { organizationId } });
    };
    window.addEventListener('keydown', onKey);
    return () => window.removeEventListener('keydown', onKey);
  }, [navigate, onHelp, onSearch, organizationId, session]);
}

function isTyping(target: EventTarget | null): boolean {
  return (
    target instanceof HTMLElement &&
    (target.isContentEditable ||
      /^(INPUT|TEXTAREA|SELECT)$/.test(target.tagName) ||
      target.closest('[role="dialog"],[role="menu"]') !== null)
  );
}
