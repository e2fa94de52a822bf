import { useId, useState, type FormEventHandler, type ReactNode } from 'react';
import { Button } from './button';
import { cx } from './cx';

interface FiltersProps {
  readonly children: ReactNode;
  /** For filters that apply on submit. */
  readonly onSubmit?: () => void;
  /** The number of filters in use. If given, the filters are behind a button on phones. */
  readonly inUse?: number;
}

/** A row of filters; two columns on phones. */
export function FilterBar({ children, onSubmit, inUse }: FiltersProps) {
  const id = useId();
  const [open, setOpen] = useState(false);
  const collapsible = inUse !== undefined;
  const className = cx(
    'grid grid-cols-2 items-end gap-x-2 gap-y-3 sm:flex sm:flex-wrap',
    collapsible && !open && 'max-sm:hidden',
  );
  const submit: FormEventHandler = (event) => {
    event.preventDefault();
    onSubmit?.();
  };
  return (
    <div className="grid gap-3">
      {collapsible && (
        <Button
          className="justify-self-start sm:hidden"
          aria-expanded={open}
          aria-controls={id}
          onClick={() => setOpen(!open)}
        >
          {inUse > 0 ? `Filters (${inUse})` : 'Filters'}
        </Button>
      )}
      {onSubmit ? (
        <form id={id} className={className} onSubmit={submit}>
          {children}
        </form>
      ) : (
        <div id={id} className={className}>
          {children}
        </div>
      )}
    </div>
  );
}
