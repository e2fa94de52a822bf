import { useBlocker } from '@tanstack/react-router';
import type { ReactNode } from 'react';
import { Confirm } from './confirm';

interface UnsavedChangesProps {
  /** Whether leaving the page would lose something. */
  readonly when: boolean;
  readonly title?: string;
  /** What would be lost. */
  readonly children?: ReactNode;
}

/** Confirms that another page may be opened; the browser confirms a reload and the end of the tab. */
export function UnsavedChanges({
  when,
  title = 'Leave without saving?',
  children = 'Your changes on this page are not saved.',
}: UnsavedChangesProps) {
  const blocker = useBlocker({
    // A filter in the address is not another page.
    shouldBlockFn: ({ current, next }) => when && current.pathname !== next.pathname,
    enableBeforeUnload: when,
    withResolver: true,
  });
  return (
    <Confirm
      open={blocker.status === 'blocked'}
      onOpenChange={(open) => {
        if (!open) blocker.reset?.();
      }}
      title={title}
      action="Leave page"
      danger
      onConfirm={() => blocker.proceed?.()}
    >
      <p>{children}</p>
    </Confirm>
  );
}
