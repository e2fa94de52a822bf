import { MINUTE_MS, type UnixMs } from './time';

/** The number of the UTC minute: the fixed window in which limits are counted. Counts of other windows do not apply. */
export function minuteWindow(at: UnixMs): number {
  return Math.floor(at / MINUTE_MS);
}

/** Milliseconds until the next UTC minute, 1 to 60,000. */
export function msLeftInMinute(at: UnixMs): number {
  return MINUTE_MS - (at % MINUTE_MS);
}
