import { isRefusal } from '@gateway/errors';
import { isJsonObject, type JsonObject, type JsonValue } from '../json/json-value';
import { measureJson } from '../json/measure-json';
import { parseJsonBody } from '../json/parse-json-body';

/*
 * Formats other than that of chat completions have one opaque text for reasoning that a later request must repeat. The rest
 * of what a chat completion has, such as the target that signed it, is packed into that text.
 */

/** Signed parts of a response. */
export interface PackedReasoning {
  /** As in `reasoning_details`. */
  readonly details?: readonly JsonObject[];
  /** `extra_content` of tool calls, by the id of the call. */
  readonly calls?: JsonObject;
}

const PREFIX = 'gw1.';

export function pack(reasoning: PackedReasoning): string {
  return PREFIX + Buffer.from(JSON.stringify(reasoning)).toString('base64url');
}

/** The values (see measureJson) of all packed texts of a request: those of 3,000 signed calls. Parsing them takes 4 ms. */
const MAX_PACKED_VALUES = 16_384;

/** Unpacks the texts of one request. */
export class Unpacker {
  private values = 0;

  /** @returns undefined for a text that is not packed; nothing for a damaged one, and beyond the values of a request. */
  unpack(text: string): PackedReasoning | undefined {
    if (!text.startsWith(PREFIX)) return undefined;
    const bytes = Buffer.from(text.slice(PREFIX.length), 'base64url');
    const measure = measureJson(bytes, MAX_PACKED_VALUES - this.values);
    if (this.values + measure.values > MAX_PACKED_VALUES) return {};
    this.values += measure.values;
    const parsed = parseJsonBody(bytes, measure);
    if (isRefusal(parsed)) return {};
    const { details, calls } = parsed.value;
    return {
      ...(Array.isArray(details) ? { details: details.filter(isJsonObject) } : {}),
      // Unlike assignment, fromEntries treats `__proto__` as an ordinary name.
      ...(isJsonObject(calls)
        ? { calls: Object.fromEntries(Object.entries(calls).filter(([, extra]) => isJsonObject(extra))) }
        : {}),
    };
  }
}

/**
 * Whether a detail repeats readable reasoning for clients that read only details. No later request needs it. Parts of a
 * signed text have an index.
 */
export function isUnsigned({ type, index, signature, format }: JsonObject): boolean {
  return type === 'reasoning.text' && (index ?? signature ?? format) === undefined;
}

/** `reasoning_details` of a message of a chat completion. */
export function detailsOf(message: JsonObject): readonly JsonObject[] {
  const details: JsonValue | undefined = message['reasoning_details'];
  return Array.isArray(details) ? details.filter(isJsonObject) : [];
}
