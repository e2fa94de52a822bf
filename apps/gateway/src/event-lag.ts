import type { EventLag } from '@gateway/dashboard-api';
import type { Registry } from 'prom-client';

/** What waits in the event log, as this process's own consumers count it. */
export async function readEventLag(metrics: Registry): Promise<EventLag[]> {
  const lag = await metrics.getSingleMetric('gateway_events_lag')?.get();
  return (lag?.values ?? []).map(({ labels, value }) => ({
    topic: String((labels as Record<string, unknown>)['topic'] ?? ''),
    group: String((labels as Record<string, unknown>)['group'] ?? ''),
    waiting: value,
  }));
}
