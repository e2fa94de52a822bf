import { asObject, type JsonObject } from '../completion/json';
import { resolveReference } from './json-schema-references';

const UNIONS = ['anyOf', 'oneOf', 'allOf'] as const;
/** The depth of unions within unions. Deeper ones, and a schema that contains itself, are dropped. */
const MAX_DEPTH = 4;

/**
 * The schema of a tool without unions at its top, for vendors that refuse them there. The properties of the branches are merged: each
 * value that the union accepts matches the result. The union moves into the description, where the model reads it.
 */
export function withoutTopUnions(schema: JsonObject): JsonObject {
  if (!UNIONS.some((name) => name in schema)) return schema;
  const unions = Object.fromEntries(UNIONS.flatMap((name) => (name in schema ? [[name, schema[name]]] : [])));
  const { description } = schema;
  const texts = [...(typeof description === 'string' ? [description] : []), JSON.stringify(unions)];
  return { ...mergedUnions(schema, schema, 0), description: texts.join('\n\n') };
}

function mergedUnions(schema: JsonObject, root: JsonObject, depth: number): JsonObject {
  const { anyOf, oneOf, allOf, ...rest } = schema;
  const branchesOf = (union: unknown) =>
    depth < MAX_DEPTH && Array.isArray(union)
      ? union.map((branch: unknown) => mergedUnions(dereferenced(branch, root), root, depth + 1))
      : [];
  const alternatives = [anyOf, oneOf].map(branchesOf).filter(({ length }) => length > 0);
  const all = branchesOf(allOf);
  const parts = [rest, ...all, ...alternatives.flat()];
  const properties = mergedProperties(parts);
  const required = new Set([
    ...[rest, ...all].flatMap(requiredOf),
    ...alternatives.flatMap((branches) => inEach(branches.map(requiredOf))),
  ]);
  return {
    ...rest,
    ...(Object.keys(properties).length > 0 ? { properties } : {}),
    ...(required.size > 0 ? { required: [...required] } : {}),
  };
}

function dereferenced(branch: unknown, root: JsonObject): JsonObject {
  const schema = asObject(branch) ?? {};
  const reference = schema['$ref'];
  return typeof reference === 'string' ? (resolveReference(root, reference) ?? {}) : schema;
}

/** A property with several schemas matches any of them. */
function mergedProperties(parts: readonly JsonObject[]): JsonObject {
  const byName = new Map<string, Map<string, unknown>>();
  for (const { properties } of parts) {
    for (const [name, schema] of Object.entries(asObject(properties) ?? {})) {
      const schemas = byName.get(name) ?? new Map<string, unknown>();
      byName.set(name, schemas.set(JSON.stringify(schema), schema));
    }
  }
  return Object.fromEntries(
    [...byName].map(([name, schemas]) => {
      const [first, ...others] = schemas.values();
      return [name, others.length === 0 ? first : { anyOf: [first, ...others] }];
    }),
  );
}

function requiredOf({ required }: JsonObject): readonly unknown[] {
  return Array.isArray(required) ? (required as unknown[]) : [];
}

function inEach([first = [], ...others]: readonly (readonly unknown[])[]): readonly unknown[] {
  return first.filter((name) => others.every((names) => names.includes(name)));
}
