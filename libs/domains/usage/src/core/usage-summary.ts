import { DAY_MS, HOUR_MS, utcDay, type NanoUsd, type UnixMs, type UtcDay } from '@gateway/base';

/** The days of a summary, today included. */
const SUMMARY_DAYS = 30;
const AVERAGED_DAYS = 7;

export interface UsageTotals {
  readonly requests: bigint;
  readonly errors: bigint;
  readonly chargedNanoUsd: NanoUsd;
}

/** The margin of the requests whose provider cost is known. For operators only. */
export interface Margin {
  readonly chargedNanoUsd: NanoUsd;
  /** What the operator pays providers. */
  readonly providerCostNanoUsd: NanoUsd;
}

export interface UsageSummary {
  readonly current: UsageTotals;
  readonly previous: UsageTotals;
  readonly chargedLast7DaysNanoUsd: NanoUsd;
  /** Highest charges first. */
  readonly topKeys: readonly { readonly keyId: string; readonly totals: UsageTotals }[];
}

export interface OrganizationUsage {
  readonly organizationId: string;
  readonly totals: UsageTotals;
  readonly margin: Margin;
  /** When its latest request was admitted. */
  readonly lastUsedAt: UnixMs | undefined;
}

/** Who used a model within the last 30 days. */
export interface ModelUse {
  readonly modelId: string;
  readonly organizations: bigint;
  readonly keys: bigint;
  readonly requests: bigint;
}

export interface PlatformUsage {
  readonly today: UsageTotals;
  readonly last30Days: UsageTotals;
  /** The margin of the last 30 days. */
  readonly margin: Margin;
  /** The days with usage among the last 30, newest first. */
  readonly days: readonly (PlatformPart & { readonly day: UtcDay })[];
  /** Highest charges first. */
  readonly models: readonly (PlatformPart & { readonly modelId: string })[];
  /** Highest charges first. The name is empty for generations that called no provider. */
  readonly providers: readonly (PlatformPart & { readonly provider: string })[];
}

export interface PlatformPart {
  readonly totals: UsageTotals;
  readonly margin: Margin;
}

/** The times of a summary. The previous period is as long as the current one: its last day ends at the same hour. */
interface SummaryPeriods {
  readonly firstDay: UtcDay;
  readonly today: UtcDay;
  readonly previousFirstDay: UtcDay;
  /** The last day of the previous period, its start, and the hour at which the period ends. */
  readonly previousLastDay: UtcDay;
  readonly previousLastDayStart: UnixMs;
  readonly previousEnd: UnixMs;
  /** The start and end of the seven days of the average spend. */
  readonly averagedFrom: UnixMs;
  readonly averagedUntil: UnixMs;
}

export function summaryPeriods(now: UnixMs): SummaryPeriods {
  const todayStart = Math.floor(now / DAY_MS) * DAY_MS;
  const nextHour = (Math.floor(now / HOUR_MS) + 1) * HOUR_MS;
  const dayOf = (daysAgo: number) => utcDay((todayStart - daysAgo * DAY_MS) as UnixMs);
  return {
    firstDay: dayOf(SUMMARY_DAYS - 1),
    today: dayOf(0),
    previousFirstDay: dayOf(2 * SUMMARY_DAYS - 1),
    previousLastDay: dayOf(SUMMARY_DAYS),
    previousLastDayStart: (todayStart - SUMMARY_DAYS * DAY_MS) as UnixMs,
    previousEnd: (nextHour - SUMMARY_DAYS * DAY_MS) as UnixMs,
    averagedFrom: (nextHour - AVERAGED_DAYS * DAY_MS) as UnixMs,
    averagedUntil: nextHour as UnixMs,
  };
}
