import type { Tag } from '@gateway/base';
import { isJsonObject, type JsonObject, type JsonValue } from '../json/json-value';

/** Longer values are cut: a tag never fails a request. */
export const MAX_TAG_CHARACTERS = 256;

/**
 * The entries of the metadata of a request that its organization declared, in the order of `names`. Undefined without
 * any, so that requests of organizations without tags allocate nothing.
 */
export function usageTagsOf(body: JsonObject, names: readonly string[] = []): Tag[] | undefined {
  if (names.length === 0 || !Object.hasOwn(body, 'metadata')) return undefined;
  const { metadata } = body;
  if (!isJsonObject(metadata)) return undefined;
  const tags = names
    .map((name) => ({ name, value: Object.hasOwn(metadata, name) ? valueOf(metadata[name]) : '' }))
    .filter(({ value }) => value !== '');
  return tags.length === 0 ? undefined : tags;
}

/** Objects and lists have no value. */
function valueOf(given: JsonValue | undefined): string {
  if (typeof given === 'number' || typeof given === 'boolean') return String(given);
  return typeof given === 'string' ? given.slice(0, MAX_TAG_CHARACTERS) : '';
}
