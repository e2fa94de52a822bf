import { Link, type ErrorComponentProps } from '@tanstack/react-router';
import { buttonClass } from '../ui/button';
import { Page } from '../ui/page';
import { Empty, Failure, Skeleton, SkeletonRows } from '../ui/states';

/** While a page's code or first data is on its way. */
export function LoadingPage() {
  return (
    <div className="mx-auto grid w-full max-w-[84rem] gap-6 px-4 pt-6 sm:px-8 sm:pt-8">
      <Skeleton className="h-7 w-48" />
      <SkeletonRows />
    </div>
  );
}

export function PageFailure({ error, reset }: ErrorComponentProps) {
  return (
    <Page title="Something went wrong">
      <Failure error={error} what="this page" onRetry={reset} />
    </Page>
  );
}

export function NotYourPage() {
  return (
    <Page title="Not for your role">
      <Empty
        icon="people"
        title="Your role does not show you this page"
        action={
          <Link to="/" className={buttonClass()}>
            To the overview
          </Link>
        }
      >
        An owner of the organization decides about roles; operators of the gateway decide about theirs.
      </Empty>
    </Page>
  );
}

export function MissingPage() {
  return (
    <Page title="Not found">
      <Empty
        icon="search"
        title="There is nothing at this address"
        action={
          <Link to="/" className={buttonClass()}>
            To the overview
          </Link>
        }
      >
        It may have been typed wrongly, or belong to an organization that you are not a member of.
      </Empty>
    </Page>
  );
}
