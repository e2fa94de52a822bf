/** Exponential backoff: pauses double from `firstMs` up to `maxMs`. */
export interface Backoff {
  readonly firstMs: number;
  readonly maxMs: number;
}

/**
 * The pause before the next attempt, with full jitter, so that clients that
 * failed together do not retry together.
 *
 * @param failures the number of failures so far, from 1.
 * @param random from 0 up to 1.
 */
export function backoffMs(failures: number, { firstMs, maxMs }: Backoff, random: number): number {
  return random * Math.min(maxMs, firstMs * 2 ** (failures - 1));
}
