import { queryOptions, useQuery } from '@tanstack/react-query';
import { api } from '../../api/client';
import { blockingErrorOf } from '../../api/transient-error';
import { count, errorRate } from '../../format/count';
import { Figure, Figures } from '../../ui/page';
import { Failure, Skeleton } from '../../ui/states';
import { Money } from '../../ui/values';
import { Margin, marginNote } from './margin';

const REFETCH_INTERVAL_MS = 60_000;

export const platformUsage = queryOptions({
  queryKey: ['platform-usage'],
  queryFn: ({ signal }) => api.call('GET /api/operator/usage', { signal }),
  refetchInterval: REFETCH_INTERVAL_MS,
});

/** The usage of all organizations. */
export function PlatformFigures() {
  const usage = useQuery(platformUsage);
  if (blockingErrorOf(usage)) {
    return <Failure error={usage.error} what="platform usage" onRetry={() => void usage.refetch()} />;
  }
  if (!usage.data) return <Skeleton className="h-20" />;
  const { today, last_30_days: month, margin } = usage.data;
  return (
    <Figures>
      <Figure label="Spend, last 30 days" note="All organizations, by UTC day">
        <Money usd={month.spend_usd} />
      </Figure>
      <Figure label="Margin, last 30 days" note={marginNote(margin, month.spend_usd)}>
        {margin ? <Margin of={margin} /> : '—'}
      </Figure>
      <Figure label="Requests, last 30 days" note={`${count(today.requests)} today`}>
        {count(month.requests)}
      </Figure>
      <Figure label="Error rate, last 30 days" note={`${count(month.errors)} failed`}>
        {errorRate(month) ?? '—'}
      </Figure>
      <Figure label="Spend today" note="Since 00:00 UTC">
        <Money usd={today.spend_usd} />
      </Figure>
    </Figures>
  );
}
