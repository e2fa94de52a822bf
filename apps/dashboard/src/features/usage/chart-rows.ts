import type { UsagePoint, UsageSeries } from '../../api/usage';
import { nanoUsdOf, usdOfNano } from '../../format/money';
import { isLatency, type LatencyMeasure, type Measure, type UsageSplit } from './search';
import { idOf } from './split';
import { seriesColors } from './series-colors';

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
  /** The sum of all series; undefined for latencies and without requests. */
  readonly total: { readonly value: number; readonly exactUsd: string } | undefined;
  /** The hour or day has not ended. */
  readonly partial: boolean;
}

/** More series than these are shown as one, or for quantiles not at all. */
export const MAX_SERIES = 6;
const REST = 'rest';
const STEP_MS = { hour: 3_600_000, day: 86_400_000 } as const;

export interface ChartOptions {
  readonly measure: Measure;
  readonly split: UsageSplit;
  readonly nameOf: (id: string) => string;
}

export interface Chart {
  /** One per hour or day, including those without requests. */
  readonly rows: readonly ChartRow[];
  /** The largest series, and the rest as one. */
  readonly parts: readonly ChartSeries[];
  /** The largest value: of a stack, or of a line. */
  readonly max: number;
}

export function chartOf(series: UsageSeries, options: ChartOptions, now = Date.now()): Chart {
  const { measure, split } = options;
  const parts = partsOf(series, options);
  const shown = new Set(parts.map(({ id }) => id));
  const byStart = groupByStart(series.data);
  const rows: ChartRow[] = [];
  const step = STEP_MS[series.granularity];
  for (let at = Date.parse(series.start); at < Date.parse(series.end); at += step) {
    const points = byStart.get(at) ?? [];
    const figures = isLatency(measure)
      ? latencies(points, measure, split)
      : sums(points, measure, (point) => (shown.has(seriesOf(point, split)) ? seriesOf(point, split) : REST));
    const partial = at <= now && now < at + step;
    rows.push({ ...labelsOf(at, series.granularity), ...figures, partial });
  }
  return { rows, parts, max: maxOf(rows, parts, isLatency(measure)) };
}

function maxOf(rows: readonly ChartRow[], parts: readonly ChartSeries[], lines: boolean): number {
  const heights = rows.map(({ values }) => {
    const shown = parts.map(({ id }) => values[id] ?? 0);
    return lines ? Math.max(0, ...shown) : shown.reduce((sum, value) => sum + value, 0);
  });
  return Math.max(0, ...heights);
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

function partsOf({ data }: UsageSeries, { measure, split, nameOf }: ChartOptions): readonly ChartSeries[] {
  const totals = new Map<string, number>();
  for (const point of data) {
    const id = seriesOf(point, split);
    totals.set(id, (totals.get(id) ?? 0) + (isLatency(measure) ? point.requests : valueOf(point, measure)));
  }
  const hasOthers = totals.delete(REST);
  const ids = [...totals].sort(([, left], [, right]) => right - left).map(([id]) => id);
  const hasRest = (hasOthers || ids.length > MAX_SERIES) && !isLatency(measure);
  const shown = ids.slice(0, hasRest ? MAX_SERIES - 1 : MAX_SERIES);
  const colors = seriesColors(shown);
  return [
    ...shown.map((id) => ({ id, name: nameOf(id), color: colors.get(id) ?? '' })),
    ...(hasRest ? [{ id: REST, name: 'Others', color: 'var(--series-rest)' }] : []),
  ];
}

const seriesOf = (point: UsagePoint, split: UsageSplit) => idOf(point, split) ?? REST;

function sums(points: readonly UsagePoint[], measure: SumMeasure, seriesIdOf: (point: UsagePoint) => string) {
  const values: Record<string, number> = {};
  const nano: Record<string, bigint> = {};
  for (const point of points) {
    const id = seriesIdOf(point);
    values[id] = (values[id] ?? 0) + valueOf(point, measure);
    nano[id] = (nano[id] ?? 0n) + nanoUsdOf(point.spend_usd);
  }
  const exactUsd = Object.fromEntries(Object.entries(nano).map(([id, amount]) => [id, usdOfNano(amount)]));
  const total = {
    value: Object.values(values).reduce((sum, value) => sum + value, 0),
    exactUsd: usdOfNano(Object.values(nano).reduce((sum, amount) => sum + amount, 0n)),
  };
  return { values, exactUsd, total: points.length === 0 ? undefined : total };
}

function latencies(points: readonly UsagePoint[], measure: LatencyMeasure, split: UsageSplit) {
  return {
    values: Object.fromEntries(points.map((point) => [seriesOf(point, split), latencyOf(point, measure)])),
    exactUsd: {},
    total: undefined,
  };
}

function latencyOf(point: UsagePoint, measure: LatencyMeasure): number | undefined {
  switch (measure) {
    case 'p50':
      return point.duration?.p50_ms;
    case 'p95':
      return point.duration?.p95_ms;
    case 'first_token':
      return point.time_to_first_token?.p50_ms;
  }
}

type SumMeasure = Exclude<Measure, LatencyMeasure>;

/** A float for bar heights; shown amounts are exact. */
function valueOf(point: UsagePoint, measure: SumMeasure): number {
  switch (measure) {
    case 'spend':
      return Number(point.spend_usd);
    case 'requests':
      return point.requests;
    case 'tokens':
      return point.prompt_tokens + point.completion_tokens;
    case 'errors':
      return point.errors;
    case 'refused':
      return point.refused;
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
