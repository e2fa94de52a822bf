import type { NanoUsd, UnixMs } from '@gateway/base';

/** Sums over generations. */
export interface Sums {
  readonly generations: bigint;
  readonly costNanoUsd: NanoUsd;
  readonly chargedNanoUsd: NanoUsd;
}

/** Sums that are compared with the rows that they summarize. */
export const SUM_KINDS = ['hourly_sums', 'daily_sums', 'hourly_values', 'daily_values'] as const;
export type SumKind = (typeof SUM_KINDS)[number];

/**
 * What is compared: the generations of an hour with the ledger's settlements; the
 * sums of an hour with its generations; the sums of a day with those of its hours. Likewise the
 * sums by end user and by tag, of all values together.
 */
export const DIFFERENCE_KINDS = ['settlements', ...SUM_KINDS] as const;

/** What one comparison is about. */
export interface Subject {
  readonly organizationId: string;
  readonly kind: (typeof DIFFERENCE_KINDS)[number];
  /** Start of the hour or day. */
  readonly startsAt: UnixMs;
  /** Start of the compared settlements; zero for sums. */
  readonly from: UnixMs;
}

export interface Comparison extends Subject {
  readonly expected: Sums;
  readonly found: Sums;
}

export interface Difference extends Comparison {
  readonly firstSeenAt: UnixMs;
}

/** Compares counts and amounts exactly. */
export function differs({ expected, found }: Comparison): boolean {
  return (
    expected.generations !== found.generations ||
    expected.costNanoUsd !== found.costNanoUsd ||
    expected.chargedNanoUsd !== found.chargedNanoUsd
  );
}
