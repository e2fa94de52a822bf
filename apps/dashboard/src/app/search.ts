/** Parses search parameters. Invalid values are ignored, never an error. */
type Raw = Readonly<Record<string, unknown>>;

/** A string parameter; undefined when absent or empty. */
export function stringParam(search: Raw, name: string): string | undefined {
  const value = search[name];
  if (typeof value === 'number' || typeof value === 'boolean') return String(value);
  return typeof value === 'string' && value !== '' ? value : undefined;
}

/** A parameter with fixed values; undefined for any other value. */
export function enumParam<const Value extends string>(
  search: Raw,
  name: string,
  values: readonly Value[],
): Value | undefined {
  const value = search[name];
  return values.find((one) => one === value);
}

/** A request id of the gateway, such as `req_01JD3M0V8Z6T5QK2X4W9Y7RBCE`; undefined for any other text. */
export function requestIdParam(search: Raw, name: string): string | undefined {
  const value = search[name];
  return typeof value === 'string' && REQUEST_ID.test(value) ? value : undefined;
}

const REQUEST_ID = /^req_[0-7][0-9A-HJKMNP-TV-Z]{25}$/;

/** Omits undefined values, so that they do not appear in the URL. */
export function omitUndefined<Search extends Readonly<Record<string, unknown>>>(
  search: Search,
): { [Name in keyof Search]?: Exclude<Search[Name], undefined> } {
  return Object.fromEntries(Object.entries(search).filter(([, value]) => value !== undefined)) as {
    [Name in keyof Search]?: Exclude<Search[Name], undefined>;
  };
}
