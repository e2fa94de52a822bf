export type JsonObject = Readonly<Record<string, unknown>>;

export function asObject(value: unknown): JsonObject | undefined {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
    ? (value as JsonObject)
    : undefined;
}

/** @returns undefined when the text is not JSON. */
export function parseJson(text: string): unknown {
  try {
    return JSON.parse(text) as unknown;
  } catch {
    return undefined;
  }
}

export function textOf(value: unknown): string {
  return typeof value === 'string' ? value : '';
}

export function nonEmptyText(value: unknown): string | undefined {
  return textOf(value) || undefined;
}

/** A text, or a number as text, as servers write codes. */
export function textOrNumber(value: unknown): string {
  return typeof value === 'number' ? String(value) : textOf(value);
}
