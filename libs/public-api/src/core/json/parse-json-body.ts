import { refuse, type Refusal } from '@gateway/errors';
import { isJsonObject, type JsonObject, type JsonValue } from './json-value';

/**
 * Levels of nesting that a body may have. Deeper ones would overflow the stack
 * of whatever walks them recursively, JSON.stringify included.
 */
export const MAX_JSON_DEPTH = 128;

const utf8 = new TextDecoder('utf-8', { fatal: true });

/**
 * Reads a request body: UTF-8 (a byte order mark is allowed), JSON, an object.
 * Of duplicate names the last one wins; `__proto__` is a name like any other.
 *
 * @returns `invalid_json`, or `invalid_request` for a body that nests too deeply.
 */
export function parseJsonBody(bytes: Uint8Array): { readonly value: JsonObject } | Refusal {
  if (bytes.length === 0) return invalidJson('The request body is empty.');
  let text: string;
  try {
    text = utf8.decode(bytes);
  } catch {
    return invalidJson('The request body is not valid UTF-8.');
  }
  let value: JsonValue;
  try {
    value = JSON.parse(text) as JsonValue;
  } catch {
    // The parser's own message quotes the body, which does not belong in an error.
    return invalidJson('The request body is not valid JSON.');
  }
  if (!isJsonObject(value)) return invalidJson('The request body must be a JSON object.');
  if (isDeeperThan(value, MAX_JSON_DEPTH)) {
    return refuse('invalid_request', {
      message: `The request body is nested more than ${MAX_JSON_DEPTH} levels deep.`,
    });
  }
  return { value };
}

function invalidJson(message: string): Refusal {
  return refuse('invalid_json', { message });
}

function isDeeperThan(value: JsonValue, levels: number): boolean {
  if (typeof value !== 'object' || value === null) return false;
  if (levels === 0) return true;
  if (Array.isArray(value)) {
    for (const item of value) if (isDeeperThan(item, levels - 1)) return true;
    return false;
  }
  for (const name in value) if (isDeeperThan(value[name] ?? null, levels - 1)) return true;
  return false;
}
