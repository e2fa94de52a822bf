import type { FormEventHandler, ReactNode } from 'react';

interface FiltersProps {
  readonly children: ReactNode;
  /** For filters that apply on submit. */
  readonly onSubmit?: () => void;
}

/** A row of filters; two columns on phones. */
export function FilterBar({ children, onSubmit }: FiltersProps) {
  const className = 'grid grid-cols-2 items-end gap-x-2 gap-y-3 sm:flex sm:flex-wrap';
  if (!onSubmit) return <div className={className}>{children}</div>;
  const submit: FormEventHandler = (event) => {
    event.preventDefault();
    onSubmit();
  };
  return (
    <form className={className} onSubmit={submit}>
      {children}
    </form>
  );
}
