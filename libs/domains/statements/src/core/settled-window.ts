import type { NanoUsd, UnixMs } from '@gateway/base';

/** What was booked for one organization in a time that is over, at most a day. */
export interface SettledWindow {
  readonly organizationId: string;
  /** By the time of the postings. */
  readonly fromUnixMs: UnixMs;
  /** Not included. */
  readonly untilUnixMs: UnixMs;
  /** In their order; those in which nothing of it was admitted are left out. */
  readonly hours: readonly SettledHour[];
}

/** Of a window's generations those that were admitted in one hour of UTC. */
export interface SettledHour {
  /** When the hour begins. */
  readonly hourUnixMs: UnixMs;
  readonly generations: bigint;
  readonly costNanoUsd: NanoUsd;
  readonly chargedNanoUsd: NanoUsd;
}
