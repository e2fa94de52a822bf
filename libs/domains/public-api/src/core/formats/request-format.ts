import type { ApiType } from '@gateway/base';
import type { Refusal } from '@gateway/errors';
import type { Field } from '../chat-completion/schema/field';
import type { ModelView } from '../chat-completion/types';
import type { JsonObject, JsonValue } from '../json/json-value';
import type { RequestedResponse } from './requested-response';

/** The public formats of a chat completion. */
export const chatFormatNames = ['chat', 'messages', 'responses'] as const;
export type ChatFormatName = (typeof chatFormatNames)[number];

/** The public formats of a generation. */
export const formatNames = [...chatFormatNames, 'embeddings'] as const;
export type FormatName = (typeof formatNames)[number];

/** The `api_type` of the generations of a format. */
export function apiTypeOfFormat(format: FormatName): ApiType {
  return format === 'chat' ? 'completions' : format;
}

/** A request as one of a chat completion, which is the only form behind the checks of its format. */
export interface ChatTranslation {
  /** Valid fields of a chat completion. */
  readonly chat: JsonObject;
  /** The paths of images and documents in the request by their `image_url` or `file`; absent: as in a chat completion. */
  readonly partPaths?: ReadonlyMap<unknown, string>;
  /** What the response repeats of the request, or depends on. */
  readonly response?: RequestedResponse;
}

/** How requests of a public format are read. Pure. */
export interface RequestFormat {
  /** In the order of validation. */
  readonly fields: readonly Field[];
  readonly fieldsByName: ReadonlyMap<string, Field>;
  /** The field with the conversation, or the input; its absence is `missing_messages`. */
  readonly conversation: 'messages' | 'input';
  /** Whether the conversation is present. */
  readonly hasConversation: (body: JsonObject) => boolean;
  /** The fields of this format by those of a chat completion, for errors; those with the same name are absent. */
  readonly params: ReadonlyMap<string, string>;
}

/** How requests of a format are read that are translated to a chat completion. Pure. */
export interface ChatRequestFormat extends RequestFormat {
  /** The body without its hosted tools. */
  readonly withoutHostedTools: (body: JsonObject) => JsonObject;
  /** @param copy the checked fields. */
  readonly toChat: (copy: JsonObject, model: ModelView | undefined) => ChatTranslation | Refusal;
  /** The member of an image with its URL, from the image's path. */
  readonly imageUrl: string;
  /** The member of a document with its data, from the document's path. */
  readonly documentData: string;
}

export function byName(fields: readonly Field[]): ReadonlyMap<string, Field> {
  return new Map(fields.map((field) => [field.name, field]));
}

/** The fields that are present. */
export function named(copy: JsonObject, names: readonly string[]): JsonObject {
  const present: JsonObject = {};
  for (const name of names) {
    const value = copy[name];
    if (value !== undefined) present[name] = value;
  }
  return present;
}

/** The fields that the model accepts beyond the schema. */
export function extraParameters(copy: JsonObject, fields: ReadonlyMap<string, Field>): JsonObject {
  const extra: [string, JsonValue][] = [];
  for (const name of Object.keys(copy)) {
    const field = fields.get(name);
    if (field === undefined || field.disposition === 'reject') extra.push([name, copy[name] as JsonValue]);
  }
  // Its names are the client's: `__proto__` is a field like any other.
  return Object.fromEntries(extra);
}

/** The field of a request that is a field of a chat completion, or within it. */
export function publicParam({ params }: Pick<RequestFormat, 'params'>, chatParam: string): string {
  const exact = params.get(chatParam);
  if (exact !== undefined) return exact;
  const [name = ''] = /^[^.[]+/.exec(chatParam) ?? [];
  // Positions in a translated conversation have no meaning for the client.
  return params.get(name) ?? chatParam;
}
