import { enumParam, omitUndefined, stringParam } from '../../app/search';

export const RANGES = ['24h', '7d', '30d', '90d', 'custom'] as const;
const MEASURES = ['spend', 'requests', 'tokens', 'errors', 'latency'] as const;
export type Measure = (typeof MEASURES)[number];
const SPLITS = ['model', 'key'] as const;

/** The search parameters of the usage page. */
export function readUsageSearch(search: Record<string, unknown>) {
  return omitUndefined({
    range: enumParam(search, 'range', RANGES),
    from: stringParam(search, 'from'),
    to: stringParam(search, 'to'),
    measure: enumParam(search, 'measure', MEASURES),
    split: enumParam(search, 'split', SPLITS),
    model: stringParam(search, 'model'),
    key: stringParam(search, 'key'),
  });
}

export type UsageSearch = ReturnType<typeof readUsageSearch>;
