import { apiTypes } from '@gateway/base';
import { enumParam, omitUndefined, stringParam } from '../../app/search';

export const RANGES = ['24h', '7d', '30d', '90d', 'custom'] as const;
const LATENCIES = ['p50', 'p95', 'first_token'] as const;
const MEASURES = ['spend', 'requests', 'tokens', 'errors', 'refused', ...LATENCIES] as const;
export type Measure = (typeof MEASURES)[number];
export type LatencyMeasure = (typeof LATENCIES)[number];

/** Whether a measure is a quantile, which does not add up. */
export function isLatency(measure: Measure): measure is LatencyMeasure {
  return LATENCIES.some((one) => one === measure);
}

const SPLITS = ['model', 'key', 'project', 'user'] as const;
export type UsageSplit = (typeof SPLITS)[number] | `tag:${string}`;

/** The search parameters of the usage page. */
export function readUsageSearch(search: Record<string, unknown>) {
  return omitUndefined({
    range: enumParam(search, 'range', RANGES),
    from: stringParam(search, 'from'),
    to: stringParam(search, 'to'),
    measure: enumParam(search, 'measure', MEASURES),
    split: enumParam(search, 'split', SPLITS) ?? tagSplit(stringParam(search, 'split')),
    model: stringParam(search, 'model'),
    key: stringParam(search, 'key'),
    project: stringParam(search, 'project'),
    api: enumParam(search, 'api', apiTypes),
  });
}

const tagSplit = (text = '') =>
  /^tag:[A-Za-z0-9_.-]{1,64}$/.test(text) ? (text as `tag:${string}`) : undefined;

export type UsageSearch = ReturnType<typeof readUsageSearch>;
