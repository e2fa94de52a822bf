import { DAY_MS, HOUR_MS, nanoUsd, ZERO_NANO_USD, type NanoUsd, type UnixMs } from '@gateway/base';
import { refuse, type Refusal } from '@gateway/errors';
import { addLatencies, NO_LATENCIES, type Latencies } from './latency-histogram';
import { MAX_REPORT_DAYS, MAX_REPORT_ROWS } from './usage-report';

type UsageGranularity = 'hour' | 'day';
export type SeriesDimension = 'model' | 'api_key' | 'project';

export interface SeriesQuery {
  readonly organizationId: string;
  readonly start: UnixMs;
  /** Exclusive. */
  readonly end: UnixMs;
  readonly granularity: UsageGranularity;
  readonly splitBy: ReadonlySet<SeriesDimension>;
  readonly modelId: string | undefined;
  readonly keyId: string | undefined;
  /** Empty: requests without a project. */
  readonly projectId: string | undefined;
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
  /** Each set if and only if split by. */
  readonly modelId: string | undefined;
  readonly keyId: string | undefined;
  /** Empty for requests without a project. */
  readonly projectId: string | undefined;
}

export interface UsageSeries {
  readonly start: UnixMs;
  readonly end: UnixMs;
  readonly totals: UsageMetrics;
  /** Ordered by time, model, key, project; times without requests are omitted. */
  readonly points: readonly UsagePoint[];
}

const STEP_MS: Readonly<Record<UsageGranularity, number>> = { hour: HOUR_MS, day: DAY_MS };
/** Days in a series. */
const MAX_SERIES_DAYS: Readonly<Record<UsageGranularity, number>> = { hour: 31, day: MAX_REPORT_DAYS };

/** Refused requests of one hour or day. */
export type RefusedPoint = Pick<UsagePoint, 'start' | 'modelId' | 'keyId' | 'projectId' | 'refused'>;

export interface SeriesReader {
  /** Ordered by time, model, key, project; at most `maxRows`. Without refused requests. */
  readSeries(query: SeriesQuery, maxRows: number): Promise<readonly UsagePoint[]>;
  readRefused(query: SeriesQuery, maxRows: number): Promise<readonly RefusedPoint[]>;
}

/** An organization's usage over time. The totals equal the sum of the points, to the nano-dollar. */
export async function reportSeries(reader: SeriesReader, query: SeriesQuery): Promise<UsageSeries | Refusal> {
  const step = STEP_MS[query.granularity];
  const start = (Math.floor(query.start / step) * step) as UnixMs;
  const end = (Math.ceil(query.end / step) * step) as UnixMs;
  if (end <= start) return invalid('end', 'end must be after start.');
  if (end - start > (MAX_SERIES_DAYS[query.granularity] + 1) * DAY_MS) {
    return invalid(
      'start',
      `A series by ${query.granularity} covers at most ${MAX_SERIES_DAYS[query.granularity]} days.`,
    );
  }
  const extended = { ...query, start, end };
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
  return { start, end, totals: points.reduce(addMetrics, NO_METRICS), points };
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
  const nameOf = ({ start, modelId = '', keyId = '', projectId = '' }: RefusedPoint) =>
    `${start}\n${modelId}\n${keyId}\n${projectId}`;
  const points = new Map<string, UsagePoint>(settled.map((point) => [nameOf(point), point]));
  for (const point of refused) {
    points.set(nameOf(point), { ...(points.get(nameOf(point)) ?? NO_METRICS), ...point });
  }
  return [...points.values()].sort(
    (a, b) =>
      a.start - b.start ||
      compare(a.modelId, b.modelId) ||
      compare(a.keyId, b.keyId) ||
      compare(a.projectId, b.projectId),
  );
}

function compare(a = '', b = ''): number {
  if (a === b) return 0;
  return a < b ? -1 : 1;
}

function addMetrics(a: UsageMetrics, b: UsageMetrics): UsageMetrics {
  return {
    requests: a.requests + b.requests,
    errors: a.errors + b.errors,
    cancelled: a.cancelled + b.cancelled,
    refused: a.refused + b.refused,
    promptTokens: a.promptTokens + b.promptTokens,
    cachedTokens: a.cachedTokens + b.cachedTokens,
    cacheWriteTokens: a.cacheWriteTokens + b.cacheWriteTokens,
    cacheWrite1hTokens: a.cacheWrite1hTokens + b.cacheWrite1hTokens,
    imageTokens: a.imageTokens + b.imageTokens,
    completionTokens: a.completionTokens + b.completionTokens,
    reasoningTokens: a.reasoningTokens + b.reasoningTokens,
    costNanoUsd: nanoUsd(a.costNanoUsd + b.costNanoUsd),
    chargedNanoUsd: nanoUsd(a.chargedNanoUsd + b.chargedNanoUsd),
    duration: addLatencies(a.duration, b.duration),
    firstToken: addLatencies(a.firstToken, b.firstToken),
  };
}

function invalid(param: string, message: string): Refusal {
  return refuse('invalid_request', { param, message });
}
