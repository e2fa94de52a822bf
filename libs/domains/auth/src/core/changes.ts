/** Changes of fields: an absent one keeps its value, null removes it. */
export type Changes<Fields> = { readonly [Name in keyof Fields]?: Fields[Name] | null };

/** The fields after the changes. */
export function withChanges<Fields extends object>(current: Fields, changes: Changes<Fields>): Fields {
  const given = Object.entries(changes).filter(([, value]) => value !== undefined);
  const changed = { ...current, ...Object.fromEntries(given) };
  return Object.fromEntries(
    Object.entries(changed).filter(([, value]) => value !== null && value !== undefined),
  ) as Fields;
}
