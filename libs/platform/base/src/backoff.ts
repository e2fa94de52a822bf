/** How pauses between attempts grow: they double from the first up to the longest. */
export interface Backoff {
  readonly firstMs: number;
  readonly maxMs: number;
}

/**
 * How many milliseconds to wait before trying again after failure number
 * `failures` (from 1): anything from 0 up to a ceiling that doubles each time
 * ("full jitter"), so that those who failed together do not come back together.
 *
 * @param random from 0 up to 1.
 */
export function backoffMs(failures: number, { firstMs, maxMs }: Backoff, random: number): number {
  return random * Math.min(maxMs, firstMs * 2 ** (failures - 1));
}
