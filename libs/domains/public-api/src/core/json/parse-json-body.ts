import { refuse, type Refusal } from '@gateway/errors';
import { isJsonObject, type JsonObject, type JsonValue } from './json-value';
import { measureJson, type JsonMeasure } from './measure-json';

/**
 * Levels of nesting that a body may have. Deeper ones would overflow the stack
 * of whatever walks them recursively, JSON.stringify included.
 */
export const MAX_JSON_DEPTH = 128;

/**
 * Values that a body may have, as `measureJson` counts them. Parsing costs by
 * the value, not by the byte: eight megabytes of `[],` take seconds. Two
 * thousand messages, or 128 tools with large schemas, have some 25,000; ten
 * thousand messages, the most there may be, that all call tools some 70,000.
 */
export const MAX_JSON_VALUES = 131_072;

const utf8 = new TextDecoder('utf-8', { fatal: true });

/**
 * Reads a request body: UTF-8 (a byte order mark is allowed), JSON, an object.
 * Of duplicate names the last one wins; `__proto__` is a name like any other.
 *
 * What is too much to parse is not parsed, so that of a body which is too much
 * and broken as well the former is said, always.
 *
 * @param measure - of the same bytes, when it is known already.
 * @returns `invalid_request` for a body with too many values or levels, else `invalid_json`.
 */
export function parseJsonBody(
  bytes: Uint8Array,
  measure: JsonMeasure = measureJson(bytes, MAX_JSON_VALUES),
): { readonly value: JsonObject } | Refusal {
  if (bytes.length === 0) return invalidJson('The request body is empty.');
  if (measure.values > MAX_JSON_VALUES) {
    return refuse('invalid_request', {
      message: `The request body holds more than ${MAX_JSON_VALUES} values.`,
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
    // The parser's own message quotes the body, which does not belong in an error.
    return invalidJson('The request body is not valid JSON.');
  }
  if (!isJsonObject(value)) return invalidJson('The request body must be a JSON object.');
  return { value };
}

function invalidJson(message: string): Refusal {
  return refuse('invalid_json', { message });
}
