import { quantile } from '../measure';

export interface HistoryRow {
  readonly what: string;
  /** In milliseconds, unless `unit` is set. */
  readonly p50: number;
  readonly max: number;
  readonly unit?: string;
}

/** Repetitions of each measured operation. */
export const ROUNDS = 60;

/** Runs `work` sequentially. @returns the durations in milliseconds, ascending */
export async function timed<Item>(
  items: readonly Item[],
  work: (item: Item) => Promise<unknown>,
): Promise<Float64Array> {
  const times = new Float64Array(items.length);
  for (const [index, item] of items.entries()) {
    const started = performance.now();
    await work(item);
    times[index] = performance.now() - started;
  }
  return times.sort();
}

/** Repeats `work` while `isRunning` returns true, at least once. @returns the durations as `timed` does */
export async function timedWhile(
  isRunning: () => boolean,
  work: () => Promise<unknown>,
): Promise<Float64Array> {
  const times: number[] = [];
  do times.push(...(await timed([0], work)));
  while (isRunning());
  return Float64Array.from(times).sort();
}

export function row(what: string, sorted: Float64Array): HistoryRow {
  return { what, p50: quantile(sorted, 0.5), max: sorted.at(-1) ?? Number.NaN };
}
