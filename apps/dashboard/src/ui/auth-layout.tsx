import { useEffect, type ReactNode } from 'react';
import { Mark } from './icons';

/** The layout of sign-in and invitation pages. */
export function AuthLayout({
  title,
  lead,
  children,
}: {
  readonly title: string;
  readonly lead?: ReactNode;
  readonly children: ReactNode;
}) {
  useEffect(() => {
    document.title = `${title} · Inference Gateway`;
  }, [title]);
  return (
    <main className="grid min-h-dvh bg-panel lg:grid-cols-[minmax(0,1fr)_minmax(0,1.1fr)]">
      <div className="grid content-center justify-items-center px-5 py-12">
        <div className="grid w-full max-w-88 gap-6">
          <header className="grid gap-4">
            <Mark className="size-9" />
            <div>
              <h1 className="text-xl font-semibold tracking-tight">{title}</h1>
              {lead !== undefined && <p className="mt-1 text-sm text-ink-soft">{lead}</p>}
            </div>
          </header>
          {children}
        </div>
      </div>
      <LedgerPattern />
    </main>
  );
}

/** A decorative ledger pattern. */
function LedgerPattern() {
  return (
    <div
      aria-hidden="true"
      className="relative hidden overflow-hidden border-l border-line bg-paper lg:block"
    >
      <svg className="absolute inset-0 size-full text-line" preserveAspectRatio="none">
        <defs>
          <pattern id="ledger" width="100%" height="34" patternUnits="userSpaceOnUse">
            <path d="M0 33.5H4000" stroke="currentColor" />
          </pattern>
        </defs>
        <rect width="100%" height="100%" fill="url(#ledger)" />
        <path d="M96.5 0V4000M100.5 0V4000" className="stroke-accent/35" />
      </svg>
    </div>
  );
}
