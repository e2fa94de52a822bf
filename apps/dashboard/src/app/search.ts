/** Reading what stands after "?" in an address: what is not understood is left out, never an error. */
type Raw = Readonly<Record<string, unknown>>;

/** A text; undefined when absent or empty. */
export function textIn(search: Raw, name: string): string | undefined {
  const value = search[name];
  if (typeof value === 'number' || typeof value === 'boolean') return String(value);
  return typeof value === 'string' && value !== '' ? value : undefined;
}

/** One of these; undefined when it is none of them. */
export function oneOfIn<const Value extends string>(
  search: Raw,
  name: string,
  values: readonly Value[],
): Value | undefined {
  const value = search[name];
  return values.find((one) => one === value);
}

/** Without the names that have no value, so that they do not stand in the address. */
export function present<Search extends Readonly<Record<string, unknown>>>(
  search: Search,
): { [Name in keyof Search]?: Exclude<Search[Name], undefined> } {
  return Object.fromEntries(Object.entries(search).filter(([, value]) => value !== undefined)) as {
    [Name in keyof Search]?: Exclude<Search[Name], undefined>;
  };
}
