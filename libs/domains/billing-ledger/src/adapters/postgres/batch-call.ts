/** An argument of an SQL function, with its value for a batch of items. */
export type BatchArgument<Item> = readonly [name: string, valueOf: (items: readonly Item[]) => string];

/**
 * A call of an SQL function in named notation, so that the order of arguments does
 * not matter. Each argument of the batch is an array with one element per item.
 */
export function batchCall<Item>(
  functionName: string,
  batch: readonly BatchArgument<Item>[],
  others: readonly string[] = [],
) {
  const names = [...batch.map(([name]) => name), ...others];
  return {
    sql: `${functionName}(${names.map((name, index) => `${name} => $${index + 1}`).join(', ')})`,
    valuesOf: (items: readonly Item[], ...otherValues: readonly unknown[]): unknown[] => [
      ...batch.map(([, valueOf]) => valueOf(items)),
      ...otherValues,
    ],
  };
}
