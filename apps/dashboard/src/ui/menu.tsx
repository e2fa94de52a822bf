import * as Dropdown from '@radix-ui/react-dropdown-menu';
import type { ReactElement, ReactNode } from 'react';
import { cx } from './cx';
import { Icon, type IconName } from './icons';

interface MenuProps {
  readonly trigger: ReactElement;
  readonly children: ReactNode;
  readonly align?: 'start' | 'end';
  readonly wide?: boolean;
}

/** Not modal: Radix's modal menus add a style element, which the content security policy forbids. */
export function Menu({ trigger, children, align = 'end', wide }: MenuProps) {
  return (
    <Dropdown.Root modal={false}>
      <Dropdown.Trigger asChild>{trigger}</Dropdown.Trigger>
      <Dropdown.Portal>
        <Dropdown.Content
          align={align}
          sideOffset={4}
          collisionPadding={8}
          className={cx(
            'z-50 max-h-[70vh] overflow-y-auto rounded-lg border border-line bg-paper p-1 shadow-float animate-rise',
            wide ? 'w-64' : 'min-w-44',
          )}
        >
          {children}
        </Dropdown.Content>
      </Dropdown.Portal>
    </Dropdown.Root>
  );
}

interface MenuItemProps {
  readonly onSelect: () => void;
  readonly children: ReactNode;
  readonly icon?: IconName;
  readonly danger?: boolean;
  readonly checked?: boolean;
  readonly disabled?: boolean;
}

export function MenuItem({ onSelect, children, icon, danger, checked, disabled }: MenuItemProps) {
  return (
    <Dropdown.Item
      disabled={disabled === true}
      onSelect={onSelect}
      className={cx(
        'flex items-center gap-2 rounded-md px-2 py-1.5 text-sm outline-none select-none',
        'data-highlighted:bg-sunken data-disabled:opacity-50',
        danger ? 'text-bad' : 'text-ink',
      )}
    >
      {icon && <Icon name={icon} className={danger ? undefined : 'text-ink-faint'} />}
      <span className="min-w-0 flex-1 truncate">{children}</span>
      {checked && <Icon name="check" className="text-accent" />}
    </Dropdown.Item>
  );
}

export function MenuLabel({ children }: { readonly children: ReactNode }) {
  return (
    <Dropdown.Label className="px-2 pt-1.5 pb-1 text-xs font-medium text-ink-faint">
      {children}
    </Dropdown.Label>
  );
}

export const MenuLine = () => <Dropdown.Separator className="my-1 h-px bg-line" />;
