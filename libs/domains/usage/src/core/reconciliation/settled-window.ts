import { HOUR_MS, ZERO_NANO_USD, type UnixMs } from '@gateway/base';
import type { Sums } from './compare';

/** Longer than the ledger ever tells of at once. */
const MAX_WINDOW_HOURS = 31 * 24;

/** What the ledger says that it settled for one organization, in a time that is over. */
export interface SettledWindow {
  readonly organizationId: string;
  /** By the time of settlement. */
  readonly fromUnixMs: UnixMs;
  /** Not included. */
  readonly untilUnixMs: UnixMs;
  readonly hours: readonly SettledHour[];
}

/** Of a window's generations those that were admitted in one hour of UTC. */
export interface SettledHour extends Sums {
  /** When the hour begins. */
  readonly hourUnixMs: UnixMs;
}

/** Of what the ledger says one hour, which is compared on its own. */
export interface ToldHour extends SettledHour {
  readonly organizationId: string;
  readonly fromUnixMs: UnixMs;
  readonly untilUnixMs: UnixMs;
}

/**
 * The hours to look at: those that the ledger names, and those that the window
 * spans, so that a generation is found of which the ledger knows nothing.
 *
 * @throws RangeError when the window is none that the ledger would tell of.
 */
export function hoursToCompare({
  organizationId,
  fromUnixMs,
  untilUnixMs,
  hours,
}: SettledWindow): ToldHour[] {
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
