import type { ReactNode } from 'react';
import { Button } from './button';
import { Notice } from './notice';

interface ConflictProps {
  /** The edited resource, such as "this key". */
  readonly what: string;
  /** What the person can do. */
  readonly children: ReactNode;
  readonly onDiscard: () => void;
  readonly onKeep: () => void;
}

/** Resolves a version conflict between two editors. */
export function Conflict({ what, children, onDiscard, onKeep }: ConflictProps) {
  return (
    <Notice
      tone="warn"
      title={`Someone else changed ${what}`}
      action={
        <div className="flex flex-wrap gap-2">
          <Button small onClick={onDiscard}>
            Discard my changes
          </Button>
          <Button small onClick={onKeep}>
            Keep my changes
          </Button>
        </div>
      }
    >
      {children}
    </Notice>
  );
}
