import { ApiError } from '@gateway/dashboard-contract/client';
import type { ReactNode } from 'react';
import { Button } from './button';
import { CopyIcon } from './copy';
import { cx } from './cx';
import { Icon, type IconName } from './icons';

/** A loading placeholder. */
export function Skeleton({ className }: { readonly className?: string }) {
  return <div aria-hidden="true" className={cx('skeleton', className)} />;
}

/** Placeholder rows of a loading table. */
export function SkeletonRows({ rows = 5 }: { readonly rows?: number }) {
  return (
    <div role="status" className="grid">
      <span className="sr-only">Loading</span>
      {Array.from({ length: rows }, (_, row) => (
        <div key={row} className="flex h-11 items-center gap-6 border-b border-line">
          <Skeleton className="h-3 w-1/4" />
          <Skeleton className="h-3 w-1/6" />
          <Skeleton className="ml-auto h-3 w-1/8" />
        </div>
      ))}
    </div>
  );
}

interface EmptyProps {
  readonly icon: IconName;
  readonly title: string;
  /** What to do. */
  readonly children: ReactNode;
  readonly action?: ReactNode;
}

/** An empty state. */
export function Empty({ icon, title, children, action }: EmptyProps) {
  return (
    <div className="grid justify-items-center gap-2 px-4 py-14 text-center">
      <span className="grid size-10 place-items-center rounded-full bg-sunken text-ink-faint">
        <Icon name={icon} className="size-5" />
      </span>
      <h2 className="mt-1 text-base font-semibold">{title}</h2>
      <div className="max-w-md text-sm text-ink-soft">{children}</div>
      {action !== undefined && <div className="mt-3 flex flex-wrap justify-center gap-2">{action}</div>}
    </div>
  );
}

interface FailureProps {
  readonly error: unknown;
  readonly onRetry?: (() => void) | undefined;
  /** What failed to load, such as "keys". */
  readonly what: string;
}

/** An error state with the request id. */
export function Failure({ error, onRetry, what }: FailureProps) {
  const requestId = requestIdOf(error);
  return (
    <div role="alert" className="grid justify-items-center gap-2 px-4 py-12 text-center">
      <span className="grid size-10 place-items-center rounded-full bg-bad-soft text-bad">
        <Icon name="alert" className="size-5" />
      </span>
      <h2 className="mt-1 text-base font-semibold">{titleOf(error, what)}</h2>
      <p className="max-w-md text-sm text-ink-soft">{messageOf(error)}</p>
      {requestId !== undefined && (
        <p className="flex items-center gap-1 text-xs text-ink-faint">
          Request ID: <code className="font-mono">{requestId}</code>
          <CopyIcon text={requestId} what="request ID" />
        </p>
      )}
      {onRetry && (
        <Button small icon="rotate" className="mt-2" onClick={onRetry}>
          Try again
        </Button>
      )}
    </div>
  );
}

/** An inline error, for forms. */
export function FailureLine({ error }: { readonly error: unknown }) {
  const requestId = requestIdOf(error);
  return (
    <div role="alert" className="flex items-start gap-2 rounded-md bg-bad-soft px-3 py-2 text-sm text-bad">
      <Icon name="alert" className="mt-0.5" />
      <div className="min-w-0">
        <p>{messageOf(error)}</p>
        {requestId !== undefined && (
          <p className="flex items-center gap-1 text-xs">
            Request ID: <code className="font-mono [overflow-wrap:anywhere]">{requestId}</code>
            <CopyIcon text={requestId} what="request ID" />
          </p>
        )}
      </div>
    </div>
  );
}

function titleOf(error: unknown, what: string): string {
  if (error instanceof ApiError && error.code === 'forbidden') return 'You don’t have access';
  if (error instanceof ApiError && error.code === 'not_found') return 'Not found';
  return `Couldn’t load ${what}`;
}

/** Plain input errors are fixed without the gateway's logs. */
function requestIdOf(error: unknown): string | undefined {
  return error instanceof ApiError && error.code !== 'invalid' ? error.requestId : undefined;
}

/** The public message of an API error, as a sentence; a generic one for other errors. */
export function messageOf(error: unknown): string {
  if (!(error instanceof ApiError)) return 'Something went wrong. Reload the page.';
  const { message, param } = error;
  const text =
    param !== undefined && message.startsWith(param)
      ? `${fieldName(param)}${message.slice(param.length).replace(/^: (?=(must|is) )/, ' ')}`
      : message;
  return text.charAt(0).toUpperCase() + text.slice(1);
}

/** "daily budget (USD)" of `limits.daily_budget_usd`. */
function fieldName(param: string): string {
  return param
    .replace(/^.*\./, '')
    .replace(/\[(\d+)\]/g, (_, index) => `, entry ${Number(index) + 1}`)
    .replace(/_usd\b/, ' (USD)')
    .replaceAll('_', ' ')
    .replace(/\b(id|ip|url)\b/g, (word) => word.toUpperCase());
}
