/**
 * The upper bounds of the rollups' histogram buckets. They are columns of the
 * tables, so changing them needs a migration.
 */
export const LATENCY_BOUNDS_MS = [
  10, 25, 50, 100, 250, 500, 750, 1_000, 1_500, 2_500, 5_000, 10_000, 20_000, 40_000, 90_000,
] as const;

/** Latencies of a number of requests, in milliseconds. */
export interface Latencies {
  readonly count: bigint;
  readonly sumMs: bigint;
  /** One count per bucket. Latencies above the last bound are the rest of `count`. */
  readonly histogram: readonly bigint[];
}

export const NO_LATENCIES: Latencies = { count: 0n, sumMs: 0n, histogram: LATENCY_BOUNDS_MS.map(() => 0n) };

export function meanMs({ count, sumMs }: Latencies): number | undefined {
  return count === 0n ? undefined : Number(sumMs) / Number(count);
}

/**
 * The latency quantile for a share from 0 to 1, linearly interpolated within its
 * bucket and at most the last bound. Undefined without requests.
 */
export function quantileMs({ count, histogram }: Latencies, share: number): number | undefined {
  if (count === 0n) return undefined;
  const rank = share * Number(count);
  let below = 0;
  let lower = 0;
  for (const [index, upper] of LATENCY_BOUNDS_MS.entries()) {
    const inside = Number(histogram[index] ?? 0n);
    if (inside > 0 && below + inside >= rank) return lower + ((upper - lower) * (rank - below)) / inside;
    below += inside;
    lower = upper;
  }
  return lower;
}

export function addLatencies(a: Latencies, b: Latencies): Latencies {
  return {
    count: a.count + b.count,
    sumMs: a.sumMs + b.sumMs,
    histogram: LATENCY_BOUNDS_MS.map((_, index) => (a.histogram[index] ?? 0n) + (b.histogram[index] ?? 0n)),
  };
}
