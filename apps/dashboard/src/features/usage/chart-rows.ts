import type { UsagePoint, UsageSeries } from '../../api/usage';
import { nanoUsdOf, usdOfNano } from '../../format/money';
import type { Measure } from './search';

export interface ChartSeries {
  readonly id: string;
  readonly name: string;
  readonly color: string;
}

export interface ChartRow {
  /** The axis label, such as "20 Nov" or "14:00". */
  readonly label: string;
  /** The tooltip's title, with year and UTC. */
  readonly title: string;
  /** By series; undefined without requests. */
  readonly values: Readonly<Record<string, number | undefined>>;
  /** Exact amounts by series. */
  readonly exactUsd: Readonly<Record<string, string>>;
}

const COLORS = [1, 2, 3, 4, 5, 6].map((number) => `var(--series-${number})`);
const ALL = 'all';
const REST = 'rest';
const STEP_MS = { hour: 3_600_000, day: 86_400_000 } as const;

const QUANTILES: readonly ChartSeries[] = [
  { id: 'p50', name: 'p50 latency', color: 'var(--series-1)' },
  { id: 'p95', name: 'p95 latency', color: 'var(--series-2)' },
  { id: 'first', name: 'p50 time to first token', color: 'var(--series-3)' },
];

/** One row per hour or day, including those without requests, with the largest series and the rest as one. */
export function chartRows(
  series: UsageSeries,
  measure: Measure,
  split: 'none' | 'model' | 'key',
  nameOf: (id: string) => string,
): { readonly rows: readonly ChartRow[]; readonly parts: readonly ChartSeries[] } {
  const parts = measure === 'latency' ? QUANTILES : partsOf(series, measure, split, nameOf);
  const known = new Set(parts.map(({ id }) => id));
  const byStart = groupByStart(series.data);
  const rows: ChartRow[] = [];
  for (let at = Date.parse(series.start); at < Date.parse(series.end); at += STEP_MS[series.granularity]) {
    const points = byStart.get(at) ?? [];
    rows.push({
      ...labelsOf(at, series.granularity),
      ...(measure === 'latency'
        ? latencyOf(points)
        : sums(points, measure, (point) => seriesOf(point, split, known))),
    });
  }
  return { rows, parts };
}

function groupByStart(data: readonly UsagePoint[]): ReadonlyMap<number, readonly UsagePoint[]> {
  const groups = new Map<number, UsagePoint[]>();
  for (const point of data) {
    const start = Date.parse(point.start);
    const group = groups.get(start);
    if (group) group.push(point);
    else groups.set(start, [point]);
  }
  return groups;
}

function partsOf(
  { data }: UsageSeries,
  measure: Measure,
  split: 'none' | 'model' | 'key',
  nameOf: (id: string) => string,
): readonly ChartSeries[] {
  if (split === 'none') return [{ id: ALL, name: 'All', color: COLORS[0] ?? '' }];
  const totals = new Map<string, number>();
  for (const point of data) {
    const id = idOf(point, split);
    totals.set(id, (totals.get(id) ?? 0) + valueOf(point, measure));
  }
  const ids = [...totals].sort(([, left], [, right]) => right - left).map(([id]) => id);
  const shown = ids.slice(0, ids.length > COLORS.length ? COLORS.length - 1 : COLORS.length);
  return [
    ...shown.map((id, index) => ({ id, name: nameOf(id), color: COLORS[index] ?? '' })),
    ...(shown.length < ids.length
      ? [{ id: REST, name: `${ids.length - shown.length} others`, color: 'var(--series-rest)' }]
      : []),
  ];
}

const idOf = (point: UsagePoint, split: 'model' | 'key') =>
  (split === 'model' ? point.model_id : point.key_id) ?? REST;

function seriesOf(point: UsagePoint, split: 'none' | 'model' | 'key', known: ReadonlySet<string>): string {
  if (split === 'none') return ALL;
  const id = idOf(point, split);
  return known.has(id) ? id : REST;
}

function sums(points: readonly UsagePoint[], measure: Measure, seriesIdOf: (point: UsagePoint) => string) {
  const values: Record<string, number> = {};
  const nano: Record<string, bigint> = {};
  for (const point of points) {
    const id = seriesIdOf(point);
    values[id] = (values[id] ?? 0) + valueOf(point, measure);
    nano[id] = (nano[id] ?? 0n) + nanoUsdOf(point.spend_usd);
  }
  const exactUsd = Object.fromEntries(Object.entries(nano).map(([id, amount]) => [id, usdOfNano(amount)]));
  return { values, exactUsd };
}

/** Latency is not split, since quantiles do not add up. */
function latencyOf(points: readonly UsagePoint[]) {
  const [point] = points;
  return {
    values: {
      p50: point?.duration?.p50_ms,
      p95: point?.duration?.p95_ms,
      first: point?.time_to_first_token?.p50_ms,
    },
    exactUsd: {},
  };
}

/** A float for bar heights; shown amounts are exact. */
function valueOf(point: UsagePoint, measure: Measure): number {
  switch (measure) {
    case 'spend':
      return Number(point.spend_usd);
    case 'requests':
      return point.requests;
    case 'tokens':
      return point.prompt_tokens + point.completion_tokens;
    case 'errors':
      return point.errors;
    case 'latency':
      return point.duration?.p50_ms ?? 0;
  }
}

const SHORT_DAY = new Intl.DateTimeFormat('en-GB', { day: 'numeric', month: 'short', timeZone: 'UTC' });
const LONG_DAY = new Intl.DateTimeFormat('en-GB', {
  weekday: 'short',
  day: 'numeric',
  month: 'short',
  year: 'numeric',
  timeZone: 'UTC',
});

function labelsOf(at: number, granularity: 'hour' | 'day') {
  const time = new Date(at);
  const clock = time.toISOString().slice(11, 16);
  if (granularity === 'day') return { label: SHORT_DAY.format(time), title: `${LONG_DAY.format(time)}, UTC` };
  return {
    label: clock === '00:00' ? SHORT_DAY.format(time) : clock,
    title: `${LONG_DAY.format(time)}, ${clock} UTC`,
  };
}
