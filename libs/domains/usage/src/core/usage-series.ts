import { DAY_MS, HOUR_MS, nanoUsd, ZERO_NANO_USD, type NanoUsd, type UnixMs } from '@gateway/base';
import { refuse, type Refusal } from '@gateway/errors';
import { addLatencies, NO_LATENCIES, type Latencies } from './latency-histogram';
import { MAX_REPORT_DAYS, MAX_REPORT_ROWS } from './usage-report';

type UsageGranularity = 'hour' | 'day';
export type SeriesDimension = 'model' | 'api_key';

export interface SeriesQuery {
  readonly organizationId: string;
  readonly start: UnixMs;
  /** Not included. */
  readonly end: UnixMs;
  readonly granularity: UsageGranularity;
  readonly splitBy: ReadonlySet<SeriesDimension>;
  readonly modelId: string | undefined;
  readonly keyId: string | undefined;
}

/** What the rollups know of some requests. */
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
  /** When its hour or day begins. */
  readonly start: UnixMs;
  /** Each set if and only if split by. */
  readonly modelId: string | undefined;
  readonly keyId: string | undefined;
}

export interface UsageSeries {
  readonly start: UnixMs;
  readonly end: UnixMs;
  readonly totals: UsageMetrics;
  /** Ordered by time, model, key; times without requests are left out. */
  readonly points: readonly UsagePoint[];
}

const STEP_MS: Readonly<Record<UsageGranularity, number>> = { hour: HOUR_MS, day: DAY_MS };
/** The longest span of one series, in days. */
const MAX_SERIES_DAYS: Readonly<Record<UsageGranularity, number>> = { hour: 31, day: MAX_REPORT_DAYS };

export interface SeriesReader {
  /** Ordered by time, model, key; at most `maxRows`. */
  readSeries(query: SeriesQuery, maxRows: number): Promise<readonly UsagePoint[]>;
}

/** An organization's usage over time. Totals are those of the points, to the nano-dollar. */
export async function reportSeries(reader: SeriesReader, asked: SeriesQuery): Promise<UsageSeries | Refusal> {
  const step = STEP_MS[asked.granularity];
  const start = (Math.floor(asked.start / step) * step) as UnixMs;
  const end = (Math.ceil(asked.end / step) * step) as UnixMs;
  if (end <= start) return invalid('end', 'end must be after start.');
  if (end - start > (MAX_SERIES_DAYS[asked.granularity] + 1) * DAY_MS) {
    return invalid(
      'start',
      `By ${asked.granularity} it is at most ${MAX_SERIES_DAYS[asked.granularity]} days.`,
    );
  }
  const points = await reader.readSeries({ ...asked, start, end }, MAX_REPORT_ROWS + 1);
  if (points.length > MAX_REPORT_ROWS) {
    return invalid(
      'split_by',
      `There are more than ${MAX_REPORT_ROWS} rows; ask for a shorter time or fewer groups.`,
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
