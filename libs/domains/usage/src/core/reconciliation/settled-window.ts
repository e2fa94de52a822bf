import { HOUR_MS, ZERO_NANO_USD, type UnixMs } from '@gateway/base';
import type { Sums } from './compare';

/** Longer than any window that the ledger announces. */
const MAX_WINDOW_HOURS = 31 * 24;

/** The settlements of one organization in a past time span, as announced by the ledger. */
export interface SettledWindow {
  readonly organizationId: string;
  /** Start of the span, by the time of settlement. */
  readonly from: UnixMs;
  /** End of the span, exclusive. */
  readonly until: UnixMs;
  readonly hours: readonly SettledHour[];
}

/** The generations of a window that were admitted in one UTC hour. */
export interface SettledHour extends Sums {
  /** Start of the hour. */
  readonly startsAt: UnixMs;
}

/** One announced hour, which is compared separately. */
export interface AnnouncedHour extends SettledHour {
  readonly organizationId: string;
  readonly from: UnixMs;
  readonly until: UnixMs;
}

/**
 * The hours to compare: those in the announcement, and all hours of the window, to
 * find generations that the ledger does not have.
 *
 * @throws RangeError for a window that the ledger cannot have announced.
 */
export function hoursToCompare({ organizationId, from, until, hours }: SettledWindow): AnnouncedHour[] {
  const first = Math.floor(from / HOUR_MS);
  const count = Math.ceil(until / HOUR_MS) - first;
  if (count < 1 || count > MAX_WINDOW_HOURS) throw new RangeError(`the window spans ${count} hours`);
  const byHour = new Map<number, SettledHour>();
  for (let hour = first; hour < first + count; hour += 1) {
    const startsAt = (hour * HOUR_MS) as UnixMs;
    byHour.set(startsAt, {
      startsAt,
      generations: 0n,
      costNanoUsd: ZERO_NANO_USD,
      chargedNanoUsd: ZERO_NANO_USD,
    });
  }
  for (const hour of hours) byHour.set(hour.startsAt, hour);
  return [...byHour.values()].map((hour) => ({
    ...hour,
    organizationId,
    from,
    until,
  }));
}
