/**
 * Runs a batch. If an item makes it fail, the batch is bisected until each such
 * item is in a batch of its own, so that the others succeed.
 *
 * @param isItemError whether an item of the batch caused the error. Other errors reject.
 * @param rejectItem returns the results of an item that fails.
 */
export async function bisectBatch<Item, Result, ItemError>(
  items: readonly Item[],
  run: (items: readonly Item[]) => Promise<readonly Result[]>,
  isItemError: (error: unknown) => error is ItemError,
  rejectItem: (item: Item, error: ItemError) => readonly Result[],
): Promise<readonly Result[]> {
  try {
    return await run(items);
  } catch (error) {
    if (!isItemError(error)) throw error;
    if (items.length === 1) return rejectItem(items[0] as Item, error);
    const middle = Math.ceil(items.length / 2);
    const first = await bisectBatch(items.slice(0, middle), run, isItemError, rejectItem);
    return [...first, ...(await bisectBatch(items.slice(middle), run, isItemError, rejectItem))];
  }
}
