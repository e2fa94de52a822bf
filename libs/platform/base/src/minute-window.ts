import { MINUTE_MS, type UnixMs } from './time';

/**
 * The fixed window that limits are counted in: the UTC minute, by its number.
 * Nothing has to happen when one ends: what was counted under its number just
 * does not count under the next.
 */
export function minuteWindow(at: UnixMs): number {
  return Math.floor(at / MINUTE_MS);
}

/** Milliseconds until the next UTC minute, 1 to 60,000. */
export function msLeftInMinute(at: UnixMs): number {
  return MINUTE_MS - (at % MINUTE_MS);
}
