export interface Changes<Item> {
  readonly appeared: readonly Item[];
  /** The names of removed items. */
  readonly gone: readonly string[];
}

/** Reports the changes of a set since the last call, so that a lasting item is logged only once. */
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
