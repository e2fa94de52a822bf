import { Link, useRouter, type ErrorComponentProps } from '@tanstack/react-router';
import { useCallback, useEffect } from 'react';
import { isTransient, RECOVERY_INTERVAL_MS } from '../api/transient-error';
import { buttonClass } from '../ui/button';
import { Page } from '../ui/page';
import { Empty, Failure, Skeleton, SkeletonRows } from '../ui/states';
import { OperatorContact } from './operator-contact';

/** Shown while a page's code or data loads. */
export function LoadingPage() {
  return (
    <div className="mx-auto grid w-full max-w-[84rem] gap-6 px-4 pt-6 sm:px-8 sm:pt-8">
      <Skeleton className="h-7 w-48" />
      <SkeletonRows />
    </div>
  );
}

/** The page loads automatically once the server responds again. */
export function PageFailure({ error, reset }: ErrorComponentProps) {
  const router = useRouter();
  const retry = useCallback(() => {
    reset();
    void router.invalidate();
  }, [reset, router]);
  const recovers = isTransient(error);
  useEffect(() => {
    if (!recovers) return;
    const timer = setInterval(retry, RECOVERY_INTERVAL_MS);
    return () => clearInterval(timer);
  }, [recovers, retry]);
  return (
    <Page title="Something went wrong">
      <Failure error={error} what="this page" onRetry={retry} />
    </Page>
  );
}

export function NoAccessPage() {
  return (
    <Page title="No access">
      <Empty
        icon="people"
        title="You don’t have access"
        action={
          <Link to="/" className={buttonClass()}>
            Go to overview
          </Link>
        }
      >
        Contact an owner of the organization or <OperatorContact /> to change your role.
      </Empty>
    </Page>
  );
}

export function NotFoundPage() {
  return (
    <Page title="Not found">
      <Empty
        icon="search"
        title="Page not found"
        action={
          <Link to="/" className={buttonClass()}>
            Go to overview
          </Link>
        }
      >
        Check the URL, or request access to the organization that it belongs to.
      </Empty>
    </Page>
  );
}
