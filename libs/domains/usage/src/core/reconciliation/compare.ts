import type { NanoUsd, UnixMs } from '@gateway/base';

/** Sums over generations. */
export interface Sums {
  readonly generations: bigint;
  readonly costNanoUsd: NanoUsd;
  readonly chargedNanoUsd: NanoUsd;
}

/**
 * What is compared: the generations of an hour with the ledger's settlements; the
 * sums of an hour with its generations; the sums of a day with those of its hours.
 */
export const DIFFERENCE_KINDS = ['settlements', 'hourly_sums', 'daily_sums'] as const;

/** What one comparison is about. */
export interface Subject {
  readonly organizationId: string;
  readonly kind: (typeof DIFFERENCE_KINDS)[number];
  /** Start of the hour or day. */
  readonly startsUnixMs: UnixMs;
  /** Start of the compared settlements; zero for sums. */
  readonly fromUnixMs: UnixMs;
}

export interface Comparison extends Subject {
  readonly expected: Sums;
  readonly found: Sums;
}

export interface Difference extends Comparison {
  readonly firstSeenUnixMs: UnixMs;
}

/** Compares counts and amounts exactly. */
export function differs({ expected, found }: Comparison): boolean {
  return (
    expected.generations !== found.generations ||
    expected.costNanoUsd !== found.costNanoUsd ||
    expected.chargedNanoUsd !== found.chargedNanoUsd
  );
}
