import type { NanoUsd, UnixMs } from '@gateway/base';

/** What generations add up to. */
export interface Sums {
  readonly generations: bigint;
  readonly costNanoUsd: NanoUsd;
  readonly chargedNanoUsd: NanoUsd;
}

/**
 * What is compared: the generations of an hour with what the ledger says that it
 * settled of them; the sums of an hour with its generations; the sums of a day
 * with those of its hours.
 */
export const DIFFERENCE_KINDS = ['settlements', 'hourly_sums', 'daily_sums'] as const;

/** Something that can be compared. */
export interface Subject {
  readonly organizationId: string;
  readonly kind: (typeof DIFFERENCE_KINDS)[number];
  /** When the hour or day begins. */
  readonly startsUnixMs: UnixMs;
  /** When what was settled of it begins; zero of sums. */
  readonly fromUnixMs: UnixMs;
}

export interface Comparison extends Subject {
  readonly expected: Sums;
  readonly found: Sums;
}

export interface Difference extends Comparison {
  readonly firstSeenUnixMs: UnixMs;
}

/** To the nano-dollar and to the count. */
export function differs({ expected, found }: Comparison): boolean {
  return (
    expected.generations !== found.generations ||
    expected.costNanoUsd !== found.costNanoUsd ||
    expected.chargedNanoUsd !== found.chargedNanoUsd
  );
}
