import { forwardRef, type ButtonHTMLAttributes } from 'react';
import { cx } from './cx';
import { Icon, type IconName } from './icons';
import { Tip } from './tooltip';

export type ButtonKind = 'primary' | 'secondary' | 'quiet' | 'danger';

const KINDS: Readonly<Record<ButtonKind, string>> = {
  primary: 'bg-accent text-on-accent hover:bg-accent-strong border-transparent',
  secondary: 'bg-paper text-ink border-line-strong hover:bg-sunken',
  quiet: 'bg-transparent text-ink-soft border-transparent hover:bg-sunken hover:text-ink',
  danger: 'bg-paper text-bad border-bad hover:bg-bad-soft',
};

/** The classes of a button, also for links that look like one. */
export function buttonClass(kind: ButtonKind = 'secondary', small = false): string {
  return cx(
    'inline-flex items-center justify-center gap-1.5 rounded-md border font-medium whitespace-nowrap',
    'transition-colors duration-75 disabled:opacity-50 disabled:pointer-events-none select-none',
    small ? 'h-7 px-2 text-sm' : 'h-[2.125rem] px-3 text-base',
    KINDS[kind],
  );
}

/** For links in a section's header. */
export const sectionLinkClass = 'text-sm font-medium text-accent hover:underline';

export interface ButtonProps extends ButtonHTMLAttributes<HTMLButtonElement> {
  readonly kind?: ButtonKind;
  readonly small?: boolean;
  readonly icon?: IconName;
  /** Shows a spinner and disables the button while its action runs. */
  readonly busy?: boolean;
}

export const Button = forwardRef<HTMLButtonElement, ButtonProps>(function Button(
  { kind, small, icon, busy = false, className, children, disabled, type = 'button', ...rest },
  ref,
) {
  return (
    <button
      ref={ref}
      type={type}
      className={cx(buttonClass(kind, small), className)}
      disabled={disabled === true || busy}
      aria-busy={busy || undefined}
      {...rest}
    >
      {busy ? <Spinner /> : icon && <Icon name={icon} />}
      {children}
    </button>
  );
});

interface IconButtonProps extends Omit<ButtonProps, 'children' | 'icon'> {
  readonly icon: IconName;
  /** The accessible name and the tooltip. */
  readonly label: string;
}

export const IconButton = forwardRef<HTMLButtonElement, IconButtonProps>(function IconButton(
  { label, icon, kind = 'quiet', className, ...rest },
  ref,
) {
  return (
    <Tip text={label}>
      <Button
        ref={ref}
        kind={kind}
        aria-label={label}
        className={cx('!px-0 w-[2.125rem]', className)}
        {...rest}
      >
        <Icon name={icon} />
      </Button>
    </Tip>
  );
});

export function Spinner() {
  return (
    <svg viewBox="0 0 16 16" className="size-4 animate-spin" aria-hidden="true">
      <circle cx="8" cy="8" r="6" fill="none" stroke="currentColor" strokeWidth="2" opacity="0.25" />
      <path d="M14 8a6 6 0 0 0-6-6" fill="none" stroke="currentColor" strokeWidth="2" strokeLinecap="round" />
    </svg>
  );
}
