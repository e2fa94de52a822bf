import { count } from '../format/count';
import { Button } from './button';

interface LoadMoreProps {
  readonly of: {
    readonly hasNextPage: boolean;
    readonly isFetchingNextPage: boolean;
    readonly fetchNextPage: () => Promise<unknown>;
  };
}

/** Loads the next page of a list; renders nothing after the last one. */
export function LoadMore({ of: list }: LoadMoreProps) {
  if (!list.hasNextPage) return null;
  return (
    <Button
      className="justify-self-center"
      busy={list.isFetchingNextPage}
      onClick={() => void list.fetchNextPage()}
    >
      Load more
    </Button>
  );
}

/** "100 of 10,000"; renders nothing while every row is shown. */
export function ShownCount({ shown, total }: { readonly shown: number; readonly total: number | undefined }) {
  if (total === undefined || shown >= total) return null;
  return (
    <p className="text-center text-xs text-ink-soft">
      {count(shown)} of {count(total)}
    </p>
  );
}
