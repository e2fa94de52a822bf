import { DAY_MS, isUtcDay, ZERO_NANO_USD, type ApiType, type NanoUsd, type UtcDay } from '@gateway/base';
import { refuse, type Refusal } from '@gateway/errors';
import { sumFigures } from './sum-figures';
import type { ValueDimension, ValueGroup } from './usage-values';

export type UsageDimension = 'day' | 'model' | 'api_key' | 'project' | 'api_type';

export interface ValueUsageQuery {
  readonly organizationId: string;
  /** UTC days of admission, inclusive. */
  readonly startDay: UtcDay;
  readonly endDay: UtcDay;
  readonly byDay: boolean;
  readonly dimension: ValueDimension;
}

export interface UsageQuery {
  readonly organizationId: string;
  /** UTC days of admission, inclusive. */
  readonly startDay: UtcDay;
  readonly endDay: UtcDay;
  readonly groupBy: ReadonlySet<UsageDimension>;
  readonly modelId: string | undefined;
  readonly runId: string | undefined;
  readonly projectId: string | undefined;
  readonly apiType: ApiType | undefined;
}

export interface UsageSums {
  readonly requests: bigint;
  readonly promptTokens: bigint;
  readonly completionTokens: bigint;
  readonly reasoningTokens: bigint;
  readonly cachedTokens: bigint;
  readonly cacheWriteTokens: bigint;
  readonly cacheWrite1hTokens: bigint;
  readonly costNanoUsd: NanoUsd;
}

export interface UsageRow extends UsageSums {
  /** Each set if and only if grouped by. */
  readonly day: string | undefined;
  readonly modelId: string | undefined;
  readonly keyId: string | undefined;
  /** Empty: no project. */
  readonly projectId: string | undefined;
  readonly apiType: string | undefined;
  readonly byValue: ValueGroup | undefined;
}

export interface UsageReport {
  readonly totals: UsageSums;
  /** Ordered by day, model, key, project, API, value. */
  readonly rows: readonly UsageRow[];
}

/** Days in a report, inclusive. */
export const MAX_REPORT_DAYS = 366;
/** Rows in a report: a message of about 2 MB. */
export const MAX_REPORT_ROWS = 20_000;

const NO_USAGE: UsageSums = {
  requests: 0n,
  promptTokens: 0n,
  completionTokens: 0n,
  reasoningTokens: 0n,
  cachedTokens: 0n,
  cacheWriteTokens: 0n,
  cacheWrite1hTokens: 0n,
  costNanoUsd: ZERO_NANO_USD,
};

/** The days of a report, or a refusal. */
export function parseDays(
  start: string,
  end: string,
): { readonly startDay: UtcDay; readonly endDay: UtcDay } | Refusal {
  if (!isUtcDay(start)) return invalid('start_date', 'start_date must be a day as YYYY-MM-DD.');
  if (!isUtcDay(end)) return invalid('end_date', 'end_date must be a day as YYYY-MM-DD.');
  const days = (Date.parse(end) - Date.parse(start)) / DAY_MS + 1;
  if (days < 1) return invalid('end_date', 'end_date must not be before start_date.');
  if (days > MAX_REPORT_DAYS) {
    return invalid('start_date', `A report covers at most ${MAX_REPORT_DAYS} days.`);
  }
  return { startDay: start, endDay: end };
}

export function tooManyRows(): Refusal {
  return invalid(
    'group_by',
    `The report has more than ${MAX_REPORT_ROWS} rows. Request fewer days or groups.`,
  );
}

export function sumOf(rows: readonly UsageSums[]): UsageSums {
  return sumFigures(NO_USAGE, rows);
}

function invalid(param: string, message: string): Refusal {
  return refuse('invalid_request', { param, message });
}
