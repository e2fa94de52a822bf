import { isJsonObject, type JsonObject, type JsonValue } from './json-value';

/**
 * The same text for every body that means the same: names sorted, no white
 * space. Hashed, it tells whether an Idempotency-Key came back with another body.
 */
export function canonicalBodySha256Input(body: JsonObject): string {
  return canonicalText(body);
}

function canonicalText(value: JsonValue): string {
  if (Array.isArray(value)) return `[${value.map(canonicalText).join(',')}]`;
  if (!isJsonObject(value)) return JSON.stringify(value);
  const members = Object.keys(value)
    .sort()
    .map((name) => `${JSON.stringify(name)}:${canonicalText(value[name] ?? null)}`);
  return `{${members.join(',')}}`;
}
