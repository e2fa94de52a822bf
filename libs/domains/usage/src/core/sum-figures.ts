type Figures<Name extends string> = Readonly<Record<Name, bigint>>;

/** The sum of each figure that `none` has; of no rows, `none`. */
export function sumFigures<Sums extends Figures<Extract<keyof Sums, string>>>(
  none: Sums,
  rows: readonly Sums[],
): Sums {
  const sums: Record<string, bigint> = { ...none };
  for (const name of Object.keys(none) as Extract<keyof Sums, string>[]) {
    for (const row of rows) sums[name] = (sums[name] ?? 0n) + row[name];
  }
  return sums as unknown as Sums;
}
