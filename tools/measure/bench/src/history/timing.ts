import { quantile } from '../measure';

export interface HistoryRow {
  readonly what: string;
  /** In milliseconds, unless `unit` says otherwise. */
  readonly p50: number;
  readonly max: number;
  readonly unit?: string;
}

/** How often each thing is done that is measured. */
export const ROUNDS = 60;

/** Milliseconds of each, one after the other, the shortest first. */
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

/** The same for as long as `goesOn` says so, and once at least. */
export async function timedWhile(goesOn: () => boolean, work: () => Promise<unknown>): Promise<Float64Array> {
  const times: number[] = [];
  do times.push(...(await timed([0], work)));
  while (goesOn());
  return Float64Array.from(times).sort();
}

export function row(what: string, sorted: Float64Array): HistoryRow {
  return { what, p50: quantile(sorted, 0.5), max: sorted.at(-1) ?? Number.NaN };
}
