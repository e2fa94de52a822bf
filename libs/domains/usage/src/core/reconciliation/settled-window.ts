import { HOUR_MS, ZERO_NANO_USD, type UnixMs } from '@gateway/base';
import type { Sums } from './compare';

/** Longer than any window that the ledger announces. */
const MAX_WINDOW_HOURS = 31 * 24;

/** The settlements of one organization in a past time span, as announced by the ledger. */
export interface SettledWindow {
  readonly organizationId: string;
  /** Start of the span, by the time of settlement. */
  readonly fromUnixMs: UnixMs;
  /** End of the span, exclusive. */
  readonly untilUnixMs: UnixMs;
  readonly hours: readonly SettledHour[];
}

/** The generations of a window that were admitted in one UTC hour. */
export interface SettledHour extends Sums {
  /** Start of the hour. */
  readonly hourUnixMs: UnixMs;
}

/** One announced hour, which is compared separately. */
export interface AnnouncedHour extends SettledHour {
  readonly organizationId: string;
  readonly fromUnixMs: UnixMs;
  readonly untilUnixMs: UnixMs;
}

/**
 * The hours to compare: those in the announcement, and all hours of the window, to
 * find generations that the ledger does not have.
 *
 * @throws RangeError for a window that the ledger cannot have announced.
 */
export function hoursToCompare({
  organizationId,
  fromUnixMs,
  untilUnixMs,
  hours,
}: SettledWindow): AnnouncedHour[] {
  const first = Math.floor(fromUnixMs / HOUR_MS);
  const count = Math.ceil(untilUnixMs / HOUR_MS) - first;
  if (count < 1 || count > MAX_WINDOW_HOURS) throw new RangeError(`the window spans ${count} hours`);
  const byHour = new Map<number, SettledHour>();
  for (let hour = first; hour < first + count; hour += 1) {
    const hourUnixMs = (hour * HOUR_MS) as UnixMs;
    byHour.set(hourUnixMs, {
      hourUnixMs,
      generations: 0n,
      costNanoUsd: ZERO_NANO_USD,
      chargedNanoUsd: ZERO_NANO_USD,
    });
  }
  for (const hour of hours) byHour.set(hour.hourUnixMs, hour);
  return [...byHour.values()].map((hour) => ({ ...hour, organizationId, fromUnixMs, untilUnixMs }));
}
