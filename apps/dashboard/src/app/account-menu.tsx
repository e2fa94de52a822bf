import { useNavigate } from '@tanstack/react-router';
import { useSession } from '../api/session';
import type { TimeZone } from '../format/time';
import { Icon } from '../ui/icons';
import { Menu, MenuItem, MenuLabel, MenuLine } from '../ui/menu';
import { chooseTimeZone, useTimeZone } from '../ui/time-zone';
import { visible } from '../ui/values';
import { useSignOut } from './sign-out';
import { chooseTheme, useTheme, type Theme } from './theme';

const THEMES: readonly { readonly theme: Theme; readonly label: string }[] = [
  { theme: 'light', label: 'Light' },
  { theme: 'dark', label: 'Dark' },
  { theme: 'system', label: 'System' },
];

const ZONES: readonly { readonly zone: TimeZone; readonly label: string }[] = [
  { zone: 'utc', label: 'UTC' },
  { zone: 'local', label: 'Local time' },
];

export function AccountMenu() {
  const { member } = useSession();
  const navigate = useNavigate();
  const theme = useTheme();
  const zone = useTimeZone();
  const signOut = useSignOut();
  return (
    <Menu
      wide
      align="start"
      trigger={
        <button
          type="button"
          className="flex items-center gap-2.5 rounded-md p-1.5 text-left text-sm text-ink-soft hover:bg-sunken hover:text-ink"
        >
          <span className="grid size-6 shrink-0 place-items-center rounded-full bg-accent-soft text-xs font-semibold text-accent">
            {visible(member.name || member.email)
              .slice(0, 1)
              .toUpperCase()}
          </span>
          <span className="min-w-0 flex-1 truncate">
            <bdi>{visible(member.name || member.email)}</bdi>
          </span>
          <Icon name="more" className="text-ink-faint" />
        </button>
      }
    >
      <MenuItem icon="person" onSelect={() => void navigate({ to: '/account' })}>
        Account
      </MenuItem>
      <MenuItem icon="external" onSelect={() => window.open('/docs', '_blank', 'noopener')}>
        API reference
      </MenuItem>
      <MenuLine />
      <MenuLabel>Theme</MenuLabel>
      {THEMES.map((one) => (
        <MenuItem key={one.theme} checked={one.theme === theme} onSelect={() => chooseTheme(one.theme)}>
          {one.label}
        </MenuItem>
      ))}
      <MenuLine />
      <MenuLabel>Times in logs</MenuLabel>
      {ZONES.map((one) => (
        <MenuItem key={one.zone} checked={one.zone === zone} onSelect={() => chooseTimeZone(one.zone)}>
          {one.label}
        </MenuItem>
      ))}
      <MenuLine />
      <MenuItem icon="out" onSelect={signOut}>
        Sign out
      </MenuItem>
    </Menu>
  );
}
