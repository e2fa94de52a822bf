import { DAY_MS, HOUR_MS, ZERO_NANO_USD, type ApiType, type NanoUsd, type UnixMs } from '@gateway/base';
import { isRefusal, refuse, type Refusal } from '@gateway/errors';
import { addLatencies, NO_LATENCIES, type Latencies } from './latency-histogram';
import { sumFigures } from './sum-figures';
import { MAX_REPORT_DAYS, MAX_REPORT_ROWS } from './usage-report';
import { checkCombination, type ValueDimension } from './usage-values';

type UsageGranularity = 'hour' | 'day';
/** A value cannot be combined with another dimension or a filter. */
export type SeriesDimension = 'model' | 'api_key' | 'project' | ValueDimension;

interface UsageFilter {
  readonly organizationId: string;
  readonly start: UnixMs;
  /** Exclusive. */
  readonly end: UnixMs;
  readonly granularity: UsageGranularity;
  readonly modelId: string | undefined;
  readonly keyId: string | undefined;
  /** Empty: requests without a project. */
  readonly projectId: string | undefined;
  readonly apiType: ApiType | undefined;
}

export interface SeriesQuery extends UsageFilter {
  readonly splitBy: ReadonlySet<SeriesDimension>;
  /** Only this many groups, the largest; the others are one. Undefined: all. */
  readonly top: { readonly groups: number; readonly sortBy: GroupOrder['sortBy'] } | undefined;
}

/** A series whose groups are chosen. */
export interface SeriesScan extends Omit<SeriesQuery, 'top'> {
  /** The groups of the only dimension; the others are one, without an id. Undefined: all. */
  readonly shownIds: readonly string[] | undefined;
}

export interface GroupOrder {
  readonly sortBy:
    'spend' | 'requests' | 'tokens' | 'prompt_tokens' | 'completion_tokens' | 'errors' | 'refused';
  readonly descending: boolean;
}

export interface GroupsQuery extends UsageFilter, GroupOrder {
  readonly dimension: SeriesDimension;
}

/** The sums of one model, key, project, end user or value of a tag. */
export interface UsageGroup extends UsageMetrics {
  /** Empty for requests without one, and for other values. */
  readonly id: string;
  /** Whether the sums are of the values beyond the limit of a day. */
  readonly isOther: boolean;
}

export interface UsageGroups {
  readonly groups: readonly UsageGroup[];
  /** The groups of all pages; 0 for a page after the last one. */
  readonly total: number;
}

/** The sums of some requests, from the rollups. */
export interface UsageMetrics {
  readonly requests: bigint;
  readonly errors: bigint;
  readonly cancelled: bigint;
  /** Requests that ended with an error and have no generation; not in `requests` or `errors`. */
  readonly refused: bigint;
  readonly promptTokens: bigint;
  readonly cachedTokens: bigint;
  readonly cacheWriteTokens: bigint;
  readonly cacheWrite1hTokens: bigint;
  readonly imageTokens: bigint;
  readonly completionTokens: bigint;
  readonly reasoningTokens: bigint;
  readonly costNanoUsd: NanoUsd;
  readonly chargedNanoUsd: NanoUsd;
  readonly duration: Latencies;
  readonly firstToken: Latencies;
}

export interface UsagePoint extends UsageMetrics {
  /** Start of the hour or day. */
  readonly start: UnixMs;
  /** Each set if and only if split by; of the groups that are not shown, none. */
  readonly modelId: string | undefined;
  readonly keyId: string | undefined;
  /** Empty for requests without a project. */
  readonly projectId: string | undefined;
  /** The end user or the value of the tag; empty for requests without one. Undefined for other values, too. */
  readonly value: string | undefined;
}

export interface UsageSeries {
  readonly start: UnixMs;
  readonly end: UnixMs;
  readonly totals: UsageMetrics;
  /** Ordered by time, model, key, project, value; times without requests are omitted. */
  readonly points: readonly UsagePoint[];
}

const STEP_MS: Readonly<Record<UsageGranularity, number>> = { hour: HOUR_MS, day: DAY_MS };
/** Days in a series. */
const MAX_SERIES_DAYS: Readonly<Record<UsageGranularity, number>> = { hour: 31, day: MAX_REPORT_DAYS };

/** Refused requests of one hour or day. */
export type RefusedPoint = Pick<
  UsagePoint,
  'start' | 'modelId' | 'keyId' | 'projectId' | 'value' | 'refused'
>;

export interface SeriesReader {
  /** Ordered by time, model, key, project, value; at most `maxRows`. Without refused requests. */
  readSeries(query: SeriesScan, maxRows: number): Promise<readonly UsagePoint[]>;
  /** Refused requests have no end user and no tags. */
  readRefused(query: SeriesScan, maxRows: number): Promise<readonly RefusedPoint[]>;
  /** In the order of the query, then by id. With refused requests. */
  readGroups(query: GroupsQuery, offset: number, limit: number): Promise<UsageGroups>;
}

/** The value by which a series is split, if any. */
export function valueDimensionOf(dimensions: Iterable<SeriesDimension>): ValueDimension | undefined {
  for (const each of dimensions)
    if (each === 'user' || each.startsWith('tag:')) return each as ValueDimension;
  return undefined;
}

function checkFilters(
  param: string,
  dimensions: ReadonlySet<SeriesDimension>,
  { modelId, keyId, projectId, apiType }: UsageFilter,
): Refusal | undefined {
  const value = valueDimensionOf(dimensions);
  if (value === undefined) return undefined;
  const others = [...dimensions].filter((each) => each !== value);
  return checkCombination(param, { dimensions: others, filters: [modelId, keyId, projectId, apiType] });
}

/** One page of the sums of models, keys, projects, end users or values of a tag. */
export async function listGroups(
  reader: SeriesReader,
  query: GroupsQuery,
  offset: number,
  limit: number,
): Promise<UsageGroups | Refusal> {
  const range = checkFilters('group_by', new Set([query.dimension]), query) ?? wholeSteps(query);
  return isRefusal(range) ? range : reader.readGroups({ ...query, ...range }, offset, limit);
}

/** An organization's usage over time. The totals equal the sum of the points, to the nano-dollar. */
export async function reportSeries(
  reader: SeriesReader,
  { top, ...query }: SeriesQuery,
): Promise<UsageSeries | Refusal> {
  const range = checkFilters('split_by', query.splitBy, query) ?? wholeSteps(query);
  if (isRefusal(range)) return range;
  const { start, end } = range;
  const [dimension, ...others] = query.splitBy;
  if (top && (!dimension || others.length > 0))
    return invalid('top', 'top needs a series that is split by one of model, key, project, user and tag.');
  const largest =
    top && dimension
      ? await reader.readGroups(
          { ...query, ...range, dimension, sortBy: top.sortBy, descending: true },
          0,
          top.groups,
        )
      : undefined;
  const extended = {
    ...query,
    start,
    end,
    shownIds: largest?.groups.filter(({ isOther }) => !isOther).map(({ id }) => id),
  };
  const [settled, refused] = await Promise.all([
    reader.readSeries(extended, MAX_REPORT_ROWS + 1),
    reader.readRefused(extended, MAX_REPORT_ROWS + 1),
  ]);
  const points = withRefused(settled, refused);
  if (points.length > MAX_REPORT_ROWS) {
    return invalid(
      'split_by',
      `The series has more than ${MAX_REPORT_ROWS} rows. Request a shorter time or fewer groups.`,
    );
  }
  return { start, end, totals: sumMetrics(points), points };
}

/** The range in whole hours or days. */
function wholeSteps({
  granularity,
  ...query
}: UsageFilter): { readonly start: UnixMs; readonly end: UnixMs } | Refusal {
  const step = STEP_MS[granularity];
  const start = (Math.floor(query.start / step) * step) as UnixMs;
  const end = (Math.ceil(query.end / step) * step) as UnixMs;
  if (end <= start) return invalid('end', 'end must be after start.');
  if (end - start > (MAX_SERIES_DAYS[granularity] + 1) * DAY_MS) {
    return invalid(
      'start',
      `A series by ${granularity} covers at most ${MAX_SERIES_DAYS[granularity]} days.`,
    );
  }
  return { start, end };
}

const NO_METRICS: UsageMetrics = {
  requests: 0n,
  errors: 0n,
  cancelled: 0n,
  refused: 0n,
  promptTokens: 0n,
  cachedTokens: 0n,
  cacheWriteTokens: 0n,
  cacheWrite1hTokens: 0n,
  imageTokens: 0n,
  completionTokens: 0n,
  reasoningTokens: 0n,
  costNanoUsd: ZERO_NANO_USD,
  chargedNanoUsd: ZERO_NANO_USD,
  duration: NO_LATENCIES,
  firstToken: NO_LATENCIES,
};

/** Some points have refused requests only. */
function withRefused(
  settled: readonly UsagePoint[],
  refused: readonly RefusedPoint[],
): readonly UsagePoint[] {
  if (refused.length === 0) return settled;
  // Null, as an empty id is a group of its own.
  const nameOf = ({ start, modelId, keyId, projectId, value }: RefusedPoint) =>
    JSON.stringify([start, modelId ?? null, keyId ?? null, projectId ?? null, value ?? null]);
  const points = new Map<string, UsagePoint>(settled.map((point) => [nameOf(point), point]));
  for (const point of refused) {
    points.set(nameOf(point), { ...(points.get(nameOf(point)) ?? NO_METRICS), ...point });
  }
  return [...points.values()].sort(
    (a, b) =>
      a.start - b.start ||
      compare(a.modelId, b.modelId) ||
      compare(a.keyId, b.keyId) ||
      compare(a.projectId, b.projectId) ||
      compare(a.value, b.value),
  );
}

/** Points without an id are last, as in PostgreSQL. */
function compare(a: string | undefined, b: string | undefined): number {
  if (a === b) return 0;
  if (a === undefined || b === undefined) return a === undefined ? 1 : -1;
  return a < b ? -1 : 1;
}

function sumMetrics(points: readonly UsageMetrics[]): UsageMetrics {
  const { duration, firstToken, ...figures } = NO_METRICS;
  return {
    ...sumFigures(figures, points),
    duration: points.reduce((sum, point) => addLatencies(sum, point.duration), duration),
    firstToken: points.reduce((sum, point) => addLatencies(sum, point.firstToken), firstToken),
  };
}

function invalid(param: string, message: string): Refusal {
  return refuse('invalid_request', { param, message });
}
