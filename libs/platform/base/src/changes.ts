export interface Changes<Item> {
  readonly appeared: readonly Item[];
  /** The names of those that are not there any more. */
  readonly gone: readonly string[];
}

/**
 * Tells what changed in a set since the last time, so that what lasts is said
 * once and not at every look.
 */
export function createChangeTracker<Item>(nameOf: (item: Item) => string) {
  let known = new Set<string>();
  return function changesTo(items: readonly Item[]): Changes<Item> {
    const now = new Map(items.map((item) => [nameOf(item), item]));
    const changes = {
      appeared: [...now].filter(([name]) => !known.has(name)).map(([, item]) => item),
      gone: [...known].filter((name) => !now.has(name)),
    };
    known = new Set(now.keys());
    return changes;
  };
}
