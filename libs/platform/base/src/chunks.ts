/** The maximum size of a chunk, in the unit of `measure`. */
export interface ChunkLimit<Item> {
  readonly max: number;
  readonly measure: (item: Item) => number;
}

/** Splits items, in order, into as few chunks as the limits allow. A chunk has at least one item, however large. */
export function chunksWithin<Item>(
  items: Iterable<Item>,
  ...limits: readonly ChunkLimit<Item>[]
): readonly (readonly Item[])[] {
  const chunks: Item[][] = [];
  let totals: number[] = [];
  for (const item of items) {
    const sizes = limits.map(({ measure }) => measure(item));
    const current = chunks.at(-1);
    const fits = limits.every(({ max }, index) => (totals[index] ?? 0) + (sizes[index] ?? 0) <= max);
    if (current && fits) {
      current.push(item);
      totals = totals.map((total, index) => total + (sizes[index] ?? 0));
    } else {
      chunks.push([item]);
      totals = sizes;
    }
  }
  return chunks;
}
