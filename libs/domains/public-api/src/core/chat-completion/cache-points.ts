import type { CacheWriteLifetime } from '@gateway/base';
import type { JsonObject, JsonValue } from '../json/json-value';
import { hasCapability } from './rules/model-support';
import type { ModelView } from './types';

/** The limit of Anthropic and OpenAI. */
const MAX_CACHE_POINTS = 4;

/** The fields of a body that can have cache points. */
export interface CacheableFields {
  readonly messages: readonly JsonObject[];
  readonly tools: readonly JsonObject[] | undefined;
}

/**
 * Brings the cache points of a request into one form, `cache_control` on tools,
 * content parts and tool calls, so that a dialect reads only that. A point on a message moves to
 * its last part. Of more than four points the last four count. A model without the
 * capability `prompt_cache` gets none.
 */
export function normalizeCachePoints(fields: CacheableFields, model: ModelView): CacheableFields {
  const { messages, tools } = fields;
  if (!messages.some(hasPointWithin) && !(tools?.some(hasPoint) ?? false)) return fields;
  const points = hasCapability(model, 'prompt_cache') ? countPoints(fields) : 0;
  const skipped = points === 0 ? Number.POSITIVE_INFINITY : points - MAX_CACHE_POINTS;
  let position = 0;
  const keepsNext = () => {
    position += 1;
    return position > skipped;
  };
  // The order of a prompt: tools come first.
  const pointedTools = tools?.map((tool) => withPoint(tool, pointOf(tool), keepsNext));
  return { tools: pointedTools, messages: messages.map((message) => normalizedMessage(message, keepsNext)) };
}

/** The longest lifetime of the cache points of normalized fields. */
export function longestCachePoint({ messages, tools = [] }: CacheableFields): CacheWriteLifetime {
  let longest = longestOf(tools);
  for (const message of messages) {
    const { content } = message;
    const ofMessage = longestOf([
      ...(Array.isArray(content) ? (content as JsonObject[]) : []),
      ...callsOf(message),
    ]);
    if (ofMessage === '1h') return '1h';
    if (ofMessage === '5m' && longest === 'none') longest = '5m';
  }
  return longest;
}

function longestOf(values: readonly JsonObject[]): CacheWriteLifetime {
  let longest: CacheWriteLifetime = 'none';
  for (const value of values) {
    const point = value['cache_control'] as JsonObject | undefined;
    if (point?.['ttl'] === '1h') return '1h';
    if (point !== undefined) longest = '5m';
  }
  return longest;
}

/** Normalizes only to count the points. */
function countPoints({ messages, tools = [] }: CacheableFields): number {
  let count = 0;
  const counts = () => {
    count += 1;
    return false;
  };
  for (const tool of tools) withPoint(tool, pointOf(tool), counts);
  for (const message of messages) normalizedMessage(message, counts);
  return count;
}

function normalizedMessage(message: JsonObject, keepsNext: () => boolean): JsonObject {
  if (!hasPointWithin(message)) return message;
  const ofMessage = pointOf(message);
  const rest = withoutPoint(message);
  const parts = partsOf(message, ofMessage !== undefined);
  const last = (parts?.length ?? 0) - 1;
  const content = parts?.map((part, index) =>
    withPoint(part, pointOf(part) ?? (index === last ? ofMessage : undefined), keepsNext),
  );
  const calls = callsOf(message);
  return {
    ...rest,
    ...(content === undefined ? {} : { content }),
    ...(calls.some(hasPoint)
      ? { tool_calls: calls.map((call) => withPoint(call, pointOf(call), keepsNext)) }
      : {}),
  };
}

/** Calls follow the content. Only some formats have points on them. */
function callsOf({ tool_calls: calls }: JsonObject): readonly JsonObject[] {
  return Array.isArray(calls) ? (calls as JsonObject[]) : [];
}

/** The content as parts; a text becomes one only if it gets a point. */
function partsOf({ content }: JsonObject, getsPoint: boolean): readonly JsonObject[] | undefined {
  if (Array.isArray(content)) return content as JsonObject[];
  return getsPoint && typeof content === 'string' && content !== ''
    ? [{ type: 'text', text: content }]
    : undefined;
}

function hasPointWithin(message: JsonObject): boolean {
  if (hasPoint(message) || callsOf(message).some(hasPoint)) return true;
  const { content } = message;
  return Array.isArray(content) && content.some((part) => hasPoint(part as JsonObject));
}

function hasPoint(value: JsonObject): boolean {
  return value['cache_control'] !== undefined || value['prompt_cache_breakpoint'] !== undefined;
}

function pointOf(value: JsonObject): JsonValue | undefined {
  return value['cache_control'] ?? (hasPoint(value) ? { type: 'ephemeral' } : undefined);
}

function withPoint(value: JsonObject, point: JsonValue | undefined, keepsNext: () => boolean): JsonObject {
  if (point === undefined) return value;
  return keepsNext() ? { ...withoutPoint(value), cache_control: point } : withoutPoint(value);
}

function withoutPoint({ cache_control: _, prompt_cache_breakpoint: __, ...rest }: JsonObject): JsonObject {
  return rest;
}
