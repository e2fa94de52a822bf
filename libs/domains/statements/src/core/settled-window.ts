import type { NanoUsd, UnixMs } from '@gateway/base';

/** The settlements of one organization in a past time span of at most a day. */
export interface SettledWindow {
  readonly organizationId: string;
  /** Start of the span, by the time of the postings. */
  readonly from: UnixMs;
  /** End of the span, exclusive. */
  readonly until: UnixMs;
  /** Ordered by time; hours without admissions are omitted. */
  readonly hours: readonly SettledHour[];
}

/** The generations of a window that were admitted in one UTC hour. */
export interface SettledHour {
  /** Start of the hour. */
  readonly startsAt: UnixMs;
  readonly generations: bigint;
  readonly costNanoUsd: NanoUsd;
  readonly chargedNanoUsd: NanoUsd;
}
