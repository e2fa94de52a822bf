import { isJsonObject, type JsonObject, type JsonValue } from './json-value';

/**
 * Canonical JSON: sorted names, no white space. Its hash detects an
 * Idempotency-Key that is reused with another body.
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
