import { refuse, type Refusal } from '@gateway/errors';
import { isJsonObject, type JsonObject, type JsonValue } from './json-value';
import { measureJson, type JsonMeasure } from './measure-json';

/**
 * Maximum nesting of a body. Deeper ones would overflow the stack of recursive
 * functions, JSON.stringify included.
 */
export const MAX_JSON_DEPTH = 128;

/**
 * Maximum values of a body, as `measureJson` counts them. Parsing time depends on
 * the values, not the bytes: 8 MB of `[],` take seconds. 2,000 messages, or 128
 * tools with large schemas, have about 25,000 values; 10,000 messages with tool
 * calls, the maximum, about 70,000.
 */
export const MAX_JSON_VALUES = 131_072;

const utf8 = new TextDecoder('utf-8', { fatal: true });

/**
 * Parses a request body: UTF-8 (a byte order mark is allowed), JSON, an object.
 * The last of duplicate names wins; `__proto__` is an ordinary name.
 *
 * A body with too many values is not parsed, so that it gets the same error
 * whether or not it is also malformed.
 *
 * @param measure - of the same bytes, when already known.
 * @returns `invalid_request` for a body with too many values or levels, else `invalid_json`.
 */
export function parseJsonBody(
  bytes: Uint8Array,
  measure: JsonMeasure = measureJson(bytes, MAX_JSON_VALUES),
): { readonly value: JsonObject } | Refusal {
  if (bytes.length === 0) return invalidJson('The request body is empty.');
  if (measure.values > MAX_JSON_VALUES) {
    return refuse('invalid_request', {
      message: `The request body contains more than ${MAX_JSON_VALUES} values.`,
    });
  }
  if (measure.depth > MAX_JSON_DEPTH) {
    return refuse('invalid_request', {
      message: `The request body is nested more than ${MAX_JSON_DEPTH} levels deep.`,
    });
  }
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
    // The parser's own message would quote the body.
    return invalidJson('The request body is not valid JSON.');
  }
  if (!isJsonObject(value)) return invalidJson('The request body must be a JSON object.');
  return { value };
}

function invalidJson(message: string): Refusal {
  return refuse('invalid_json', { message });
}
