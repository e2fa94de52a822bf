import { DAY_MS, HOUR_MS, nanoUsd, ZERO_NANO_USD, type NanoUsd, type UnixMs } from '@gateway/base';
import { refuse, type Refusal } from '@gateway/errors';
import { addLatencies, NO_LATENCIES, type Latencies } from './latency-histogram';
import { MAX_REPORT_DAYS, MAX_REPORT_ROWS } from './usage-report';

type UsageGranularity = 'hour' | 'day';
export type SeriesDimension = 'model' | 'api_key';

export interface SeriesQuery {
  readonly organizationId: string;
  readonly start: UnixMs;
  /** Exclusive. */
  readonly end: UnixMs;
  readonly granularity: UsageGranularity;
  readonly splitBy: ReadonlySet<SeriesDimension>;
  readonly modelId: string | undefined;
  readonly keyId: string | undefined;
}

/** The sums of some requests, from the rollups. */
export interface UsageMetrics {
  readonly requests: bigint;
  readonly errors: bigint;
  readonly cancelled: bigint;
  readonly promptTokens: bigint;
  readonly cachedTokens: bigint;
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
}

export interface UsageSeries {
  readonly start: UnixMs;
  readonly end: UnixMs;
  readonly totals: UsageMetrics;
  /** Ordered by time, model, key; times without requests are omitted. */
  readonly points: readonly UsagePoint[];
}

const STEP_MS: Readonly<Record<UsageGranularity, number>> = { hour: HOUR_MS, day: DAY_MS };
/** Days in a series. */
const MAX_SERIES_DAYS: Readonly<Record<UsageGranularity, number>> = { hour: 31, day: MAX_REPORT_DAYS };

export interface SeriesReader {
  /** Ordered by time, model, key; at most `maxRows`. */
  readSeries(query: SeriesQuery, maxRows: number): Promise<readonly UsagePoint[]>;
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
  const points = await reader.readSeries({ ...query, start, end }, MAX_REPORT_ROWS + 1);
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
  promptTokens: 0n,
  cachedTokens: 0n,
  imageTokens: 0n,
  completionTokens: 0n,
  reasoningTokens: 0n,
  costNanoUsd: ZERO_NANO_USD,
  chargedNanoUsd: ZERO_NANO_USD,
  duration: NO_LATENCIES,
  firstToken: NO_LATENCIES,
};

function addMetrics(a: UsageMetrics, b: UsageMetrics): UsageMetrics {
  return {
    requests: a.requests + b.requests,
    errors: a.errors + b.errors,
    cancelled: a.cancelled + b.cancelled,
    promptTokens: a.promptTokens + b.promptTokens,
    cachedTokens: a.cachedTokens + b.cachedTokens,
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
