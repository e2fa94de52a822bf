import { useQuery } from '@tanstack/react-query';
import { Failure, Skeleton } from '../../ui/states';
import type { UsageChartProps } from './usage-chart';

/** Loads the chart's code on demand. If that fails, the rest of the page stays. */
export function LazyUsageChart(props: UsageChartProps) {
  const code = useQuery({
    queryKey: ['usage-chart-code'],
    queryFn: () => import('./usage-chart'),
    staleTime: Infinity,
    structuralSharing: false,
  });
  const retry = async () => {
    const { isError } = await code.refetch();
    // After an upgrade, only a new page knows the file's new name.
    if (isError) window.location.reload();
  };
  if (code.error) return <Failure error={code.error} what="the chart" onRetry={() => void retry()} />;
  return code.data ? <code.data.UsageChart {...props} /> : <Skeleton className="h-56" />;
}
