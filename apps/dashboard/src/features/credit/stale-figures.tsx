import { useTicks } from '../../ui/clock';
import { Badge, Notice } from '../../ui/notice';
import { Time } from '../../ui/values';

/** The state of a query that is polled every second. */
interface LiveState {
  readonly isError: boolean;
  readonly dataUpdatedAt: number;
}

/** A request without a response counts as a failure after this time. */
const STALE_AFTER_MS = 10_000;

function useIsStale({ isError, dataUpdatedAt }: LiveState): boolean {
  useTicks();
  return isError || Date.now() - dataUpdatedAt > STALE_AFTER_MS;
}

/** Marks live figures that are no longer updated. */
export function StaleFigures({ of: live }: { readonly of: LiveState }) {
  if (!useIsStale(live)) return null;
  return (
    <Notice tone="warn" title="These figures are out of date">
      Last updated <Time at={new Date(live.dataUpdatedAt).toISOString()} />: the gateway is not responding.
      Updates resume automatically.
    </Notice>
  );
}

/** The short form, next to a figure. */
export function StaleBadge({ of: live }: { readonly of: LiveState }) {
  return useIsStale(live) ? <Badge tone="warn">Out of date</Badge> : null;
}
