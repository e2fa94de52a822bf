import { asObject, parseJson, type JsonObject } from '../completion/json';

/**
 * The arguments of an earlier tool call, for vendors that require an object. Other text, from a model that failed, becomes a
 * field of one: the call stays in the history.
 */
export function argumentsObject(text: unknown): JsonObject {
  if (typeof text !== 'string' || text.trim() === '') return {};
  return asObject(parseJson(text)) ?? { arguments: text };
}
