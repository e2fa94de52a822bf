import type { ReactNode } from 'react';
import { Button } from './button';
import { Notice } from './notice';

interface ConflictProps {
  /** What two people changed: "this key". */
  readonly what: string;
  /** Nothing of the form's was saved; what there is to do about it. */
  readonly children: ReactNode;
  readonly onTakeTheirs: () => void;
  readonly onKeepMine: () => void;
}

/** Of two editors the second is told, and chooses. */
export function Conflict({ what, children, onTakeTheirs, onKeepMine }: ConflictProps) {
  return (
    <Notice
      tone="warn"
      title={`Somebody else changed ${what} meanwhile`}
      action={
        <div className="flex flex-wrap gap-2">
          <Button small onClick={onTakeTheirs}>
            Take theirs
          </Button>
          <Button small onClick={onKeepMine}>
            Keep mine, and save again
          </Button>
        </div>
      }
    >
      {children}
    </Notice>
  );
}
