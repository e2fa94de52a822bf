import { isRefusal } from '@gateway/errors';
import { isJsonObject, type JsonObject, type JsonValue } from '../json/json-value';
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

/** @returns undefined for a text that is not packed; nothing for a damaged one. */
export function unpack(text: string): PackedReasoning | undefined {
  if (!text.startsWith(PREFIX)) return undefined;
  // Bounded like every other JSON of a client.
  const parsed = parseJsonBody(Buffer.from(text.slice(PREFIX.length), 'base64url'));
  if (isRefusal(parsed)) return {};
  const { details, calls } = parsed.value;
  return {
    ...(Array.isArray(details) ? { details: details.filter(isJsonObject) } : {}),
    ...(isJsonObject(calls) ? { calls } : {}),
  };
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
