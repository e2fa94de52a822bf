import type { JsonObject } from '../json/json-value';

/** What a response depends on, or repeats, of its request. Plain data. */
export interface RequestedResponse {
  /** To name the one that ended a completion. */
  readonly stopSequences?: readonly string[];
  /** Names of tools whose input is text instead of JSON. */
  readonly customTools?: readonly string[];
  /** Whether reasoning is returned for later requests. */
  readonly packsReasoning?: boolean;
  /** The encoding of embeddings, which are lists of numbers by default. */
  readonly encodingFormat?: 'base64';
  /** Fields that the response repeats. */
  readonly echo?: JsonObject;
}
