import * as RadixDialog from '@radix-ui/react-dialog';
import { useRef, type ReactNode } from 'react';
import { IconButton } from './button';
import { cx } from './cx';
import { useReturnFocus } from './return-focus';

interface DialogProps {
  readonly open: boolean;
  readonly onOpenChange: (open: boolean) => void;
  readonly title: ReactNode;
  readonly description?: ReactNode;
  readonly children: ReactNode;
  readonly wide?: boolean;
  /** Closes only with its own buttons, not with Escape or a click outside. */
  readonly persistent?: boolean;
  /** Hides the page and other dialogs behind it. */
  readonly opaque?: boolean;
}

const FIRST_TO_FOCUS = 'input:not([readonly]), select, textarea, button';

/** Uses no Radix overlay, which adds a style element that the content security policy forbids. */
export function Dialog({
  open,
  onOpenChange,
  title,
  description,
  children,
  wide,
  persistent,
  opaque,
}: DialogProps) {
  const returnFocus = useReturnFocus(open);
  const body = useRef<HTMLDivElement>(null);
  const keepOpen = persistent ? (event: Event) => event.preventDefault() : undefined;
  return (
    <RadixDialog.Root open={open} onOpenChange={onOpenChange}>
      <RadixDialog.Portal>
        <div className={cx('fixed inset-0 bg-veil', opaque ? 'z-60 backdrop-blur-xl' : 'z-40')} />
        <div
          className={cx(
            'pointer-events-none fixed inset-0 grid items-start justify-items-center overflow-y-auto p-3 sm:py-[8vh]',
            opaque ? 'z-70' : 'z-50',
          )}
        >
          <RadixDialog.Content
            onOpenAutoFocus={(event) => {
              // Skip the close button, which comes first.
              const first = body.current?.querySelector<HTMLElement>(FIRST_TO_FOCUS);
              if (!first) return;
              event.preventDefault();
              first.focus();
            }}
            onCloseAutoFocus={returnFocus}
            onEscapeKeyDown={keepOpen}
            onPointerDownOutside={keepOpen}
            {...(description === undefined ? { 'aria-describedby': undefined } : {})}
            className={cx(
              'w-full rounded-lg border border-line bg-paper shadow-float animate-rise',
              wide ? 'max-w-3xl' : 'max-w-lg',
            )}
          >
            <header className="flex items-start justify-between gap-4 px-5 pt-4">
              <div>
                <RadixDialog.Title className="text-lg font-semibold tracking-tight">
                  {title}
                </RadixDialog.Title>
                {description !== undefined && (
                  <RadixDialog.Description className="mt-1 text-sm text-ink-soft">
                    {description}
                  </RadixDialog.Description>
                )}
              </div>
              {!persistent && (
                <RadixDialog.Close asChild>
                  <IconButton icon="close" label="Close" className="-mr-2" />
                </RadixDialog.Close>
              )}
            </header>
            <div ref={body} className="px-5 pt-4 pb-5">
              {children}
            </div>
          </RadixDialog.Content>
        </div>
      </RadixDialog.Portal>
    </RadixDialog.Root>
  );
}

/** The row of buttons at the end of a dialog. */
export function DialogActions({ children }: { readonly children: ReactNode }) {
  return <footer className="mt-6 flex flex-wrap items-center justify-end gap-2">{children}</footer>;
}

/** A side panel for the navigation on phones. */
export function Drawer({
  open,
  onOpenChange,
  title,
  children,
}: Pick<DialogProps, 'open' | 'onOpenChange' | 'title' | 'children'>) {
  const returnFocus = useReturnFocus(open);
  return (
    <RadixDialog.Root open={open} onOpenChange={onOpenChange}>
      <RadixDialog.Portal>
        <div className="fixed inset-0 z-40 bg-veil" />
        <RadixDialog.Content
          onCloseAutoFocus={returnFocus}
          aria-describedby={undefined}
          className="fixed inset-y-0 left-0 z-50 w-72 max-w-[85vw] overflow-y-auto border-r border-line bg-panel shadow-float"
        >
          <RadixDialog.Title className="sr-only">{title}</RadixDialog.Title>
          {children}
        </RadixDialog.Content>
      </RadixDialog.Portal>
    </RadixDialog.Root>
  );
}
