import { isJsonObject, type JsonObject, type JsonValue } from '@gateway/public-api';
import type { Resolve } from './schema-table';

/** An operation of the document with what it is called by. */
export interface Operation {
  readonly method: string;
  readonly path: string;
  readonly definition: JsonObject;
}

/** The member of an object at these names, which the document has by construction. */
export function at(object: JsonObject, ...names: readonly string[]): JsonObject {
  return names.reduce((inner, name) => {
    const next = inner[name];
    if (!isJsonObject(next)) throw new Error(`the document has no ${names.join(' → ')}`);
    return next;
  }, object);
}

export function textAt(object: JsonObject, name: string): string {
  const value = object[name];
  return typeof value === 'string' ? value : '';
}

export function listAt(object: JsonObject, name: string): JsonObject[] {
  const value = object[name];
  return Array.isArray(value) ? value.filter(isJsonObject) : [];
}

export function members(value: JsonValue | undefined): [string, JsonObject][] {
  if (!isJsonObject(value)) return [];
  return Object.entries(value).filter((entry): entry is [string, JsonObject] => isJsonObject(entry[1]));
}

export function operationsOf(document: JsonObject): Operation[] {
  return members(document['paths']).flatMap(([path, methods]) =>
    members(methods).map(([method, definition]) => ({ method: method.toUpperCase(), path, definition })),
  );
}

export function resolverOf(document: JsonObject): Resolve {
  return (pointer) => at(document, ...pointer.replace(/^#\//, '').split('/'));
}
