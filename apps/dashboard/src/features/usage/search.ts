import { oneOfIn, present, textIn } from '../../app/search';

export const RANGES = ['24h', '7d', '30d', '90d', 'custom'] as const;
const MEASURES = ['spend', 'requests', 'tokens', 'errors', 'latency'] as const;
export type Measure = (typeof MEASURES)[number];
const SPLITS = ['model', 'key'] as const;

/** What the address of the usage page may hold. */
export function readUsageSearch(search: Record<string, unknown>) {
  return present({
    range: oneOfIn(search, 'range', RANGES),
    from: textIn(search, 'from'),
    to: textIn(search, 'to'),
    measure: oneOfIn(search, 'measure', MEASURES),
    split: oneOfIn(search, 'split', SPLITS),
    model: textIn(search, 'model'),
    key: textIn(search, 'key'),
  });
}

export type UsageSearch = ReturnType<typeof readUsageSearch>;
