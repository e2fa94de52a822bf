import { badRequest } from '../../errors';
import { isObject } from '../../json-schema';

type Schema = { readonly [key: string]: unknown };

/** Throws for references that Gemini refuses. Google, "Structured outputs" and `Schema`, fields `responseJsonSchema` and `$ref`. */
export function checkSchema(schema: unknown): void {
  checkReferencesAlone(schema);
  if (isObject(schema)) checkRequiredCycles(schema);
}

/** "If `$ref` is set on a sub-schema, no other properties, except for those starting as a `$`, may be set." */
function checkReferencesAlone(schema: unknown): void {
  if (Array.isArray(schema)) for (const item of schema) checkReferencesAlone(item);
  if (!isObject(schema)) return;
  const hasOthers = Object.keys(schema).some((name) => !name.startsWith('$'));
  if (typeof schema['$ref'] === 'string' && hasOthers) {
    throw badRequest('A schema with $ref must not have other properties.', 'schema');
  }
  for (const field of Object.values(schema)) checkReferencesAlone(field);
}

/** "Cyclic references are unrolled to a limited degree and, as such, may only be used within non-required properties." */
function checkRequiredCycles(root: Schema): void {
  const finished = new Set<string>();
  const follow = (schema: unknown, open: readonly string[]): void => {
    for (const reference of requiredReferences(schema)) {
      if (open.includes(reference)) {
        throw badRequest(`The reference ${reference} is cyclic within required properties.`, 'schema');
      }
      if (finished.has(reference)) continue;
      follow(resolve(root, reference), [...open, reference]);
      finished.add(reference);
    }
  };
  for (const schema of [root, ...definitionsOf(root)]) follow(schema, []);
}

/** The references that each value of the schema has to match. */
function requiredReferences(schema: unknown): readonly string[] {
  if (Array.isArray(schema)) return schema.flatMap(requiredReferences);
  if (!isObject(schema)) return [];
  if (typeof schema['$ref'] === 'string') return [schema['$ref']];
  const { properties, required } = schema;
  const names = Array.isArray(required) ? required : [];
  const needed = Object.entries(isObject(properties) ? properties : {}).filter(([name]) =>
    names.includes(name),
  );
  return [
    ...needed.flatMap(([, property]) => requiredReferences(property)),
    ...requiredReferences(schema['items']),
    ...requiredReferences(schema['anyOf']),
  ];
}

function definitionsOf({ $defs, definitions }: Schema): readonly unknown[] {
  return [$defs, definitions].flatMap((named) => (isObject(named) ? Object.values(named) : []));
}

function resolve(root: Schema, reference: string): unknown {
  let found: unknown = root;
  for (const step of reference.split('/').slice(1)) found = isObject(found) ? found[step] : undefined;
  return found;
}
