import { useEffect, type ReactNode } from 'react';
import { cx } from './cx';

interface PageProps {
  /** Also the document title. */
  readonly title: string;
  readonly heading?: ReactNode;
  readonly description?: ReactNode;
  readonly actions?: ReactNode;
  readonly children: ReactNode;
  readonly narrow?: boolean;
}

export function Page({ title, heading, description, actions, children, narrow }: PageProps) {
  useEffect(() => {
    document.title = `${title} · Inference Gateway`;
  }, [title]);
  return (
    <div className="mx-auto w-full max-w-[84rem] px-4 pt-6 pb-16 sm:px-8 sm:pt-8">
      <div className={cx('grid grid-cols-[minmax(0,1fr)] gap-6', narrow && 'max-w-3xl')}>
        <header className="flex flex-wrap items-start justify-between gap-x-6 gap-y-3">
          <div className="min-w-0">
            <h1 className="text-xl font-semibold tracking-tight [overflow-wrap:anywhere]">
              {heading ?? title}
            </h1>
            {description !== undefined && <p className="mt-0.5 text-sm text-ink-soft">{description}</p>}
          </div>
          {actions !== undefined && <div className="flex flex-wrap items-center gap-2">{actions}</div>}
        </header>
        {children}
      </div>
    </div>
  );
}

interface SectionProps {
  readonly title: ReactNode;
  readonly description?: ReactNode;
  readonly actions?: ReactNode;
  readonly children: ReactNode;
}

/** A titled section of a page. */
export function Section({ title, description, actions, children }: SectionProps) {
  return (
    <section className="grid min-w-0 gap-3">
      <header className="flex flex-wrap items-end justify-between gap-x-6 gap-y-2 border-b border-line pb-2">
        <div>
          <h2 className="text-base font-semibold">{title}</h2>
          {description !== undefined && <p className="text-sm text-ink-soft">{description}</p>}
        </div>
        {actions !== undefined && <div className="flex flex-wrap items-center gap-2">{actions}</div>}
      </header>
      {children}
    </section>
  );
}

/** A key figure. */
export function Figure({
  label,
  children,
  note,
}: {
  readonly label: ReactNode;
  readonly children: ReactNode;
  readonly note?: ReactNode;
}) {
  return (
    <div className="min-w-0 border-line py-3 pr-4 sm:border-l sm:pl-4">
      <dt className="text-xs font-medium text-ink-soft">{label}</dt>
      <dd className="figures mt-0.5 text-xl font-medium tracking-tight [overflow-wrap:anywhere]">
        {children}
      </dd>
      {note !== undefined && <dd className="text-xs text-ink-faint">{note}</dd>}
    </div>
  );
}

export function Figures({ children }: { readonly children: ReactNode }) {
  return (
    // In a section, the section's header already has a line. The line and space before the first figure of a row are outside.
    <div className="overflow-clip border-y border-line [overflow-clip-margin:4px] in-[section]:-mt-3 in-[section]:border-t-0">
      <dl className="grid grid-cols-2 sm:-ml-[calc(1rem+1px)] sm:flex sm:flex-wrap sm:[&>*]:grow">
        {children}
      </dl>
    </div>
  );
}

/** A list of names and values. */
export function Facts({ children }: { readonly children: ReactNode }) {
  return <dl className="-mt-3 divide-y divide-line border-b border-line text-sm">{children}</dl>;
}

export function Fact({ name, children }: { readonly name: ReactNode; readonly children: ReactNode }) {
  return (
    <div className="grid items-baseline gap-x-4 py-2 sm:grid-cols-[13rem_1fr]">
      <dt className="text-ink-soft">{name}</dt>
      <dd className="min-w-0 [overflow-wrap:anywhere]">{children}</dd>
    </div>
  );
}
