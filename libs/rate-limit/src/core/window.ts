import { MINUTE_MS, type UnixMs } from '@gateway/base';

/** The number of the UTC minute that a time falls in. */
export function windowOf(at: UnixMs): number {
  return Math.floor(at / MINUTE_MS);
}

/** Milliseconds until the next UTC minute, 1 to 60,000. */
export function msLeftInWindow(at: UnixMs): number {
  return MINUTE_MS - (at % MINUTE_MS);
}
