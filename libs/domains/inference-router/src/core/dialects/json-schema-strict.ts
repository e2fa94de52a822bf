import { asObject, type JsonObject } from '../completion/json';

/** The keywords that structured outputs accept, and those whose value depends on more than their name. */
export interface StrictKeywords {
  readonly accepted: ReadonlySet<string>;
  readonly formats: ReadonlySet<unknown>;
  readonly minItems: ReadonlySet<unknown>;
}

/** Keywords whose value is a schema, a list of schemas, or schemas by name. */
const ONE = new Set(['items']);
const LISTS = new Set(['anyOf', 'allOf']);
const NAMED = new Set(['properties', '$defs', 'definitions']);
/** They constrain nothing. */
const SILENT = new Set(['$schema', '$id', '$comment']);

/**
 * A schema for structured outputs that accept a part of JSON Schema only. As in the vendor's own libraries, other keywords
 * move into the description, where the model reads them, and objects have no further properties.
 */
export function strictSchema(schema: JsonObject, keywords: StrictKeywords): JsonObject {
  const kept: Record<string, unknown> = {};
  const moved: Record<string, unknown> = {};
  const isObjectSchema = typesOf(schema).includes('object');
  for (const [name, value] of Object.entries(merged(schema))) {
    if (SILENT.has(name) || name === 'description') continue;
    if (name === 'additionalProperties' && (isObjectSchema || typeof value === 'boolean')) {
      if (asObject(value)) moved[name] = value;
    } else if (isAccepted(name, value, keywords)) kept[name] = nested(name, value, keywords);
    else moved[name] = value;
  }
  if (isObjectSchema) Object.assign(kept, objectFields(schema, kept));
  const description = described(schema['description'], moved);
  if (description !== undefined) kept['description'] = description;
  return referenceAlone(kept);
}

function objectFields(schema: JsonObject, kept: JsonObject): JsonObject {
  return {
    ...(schema['type'] === undefined ? { type: 'object' } : {}),
    properties: kept['properties'] ?? {},
    additionalProperties: false,
  };
}

/** The vendor has no `oneOf`; an `anyOf` accepts at least the same. */
function merged(schema: JsonObject): JsonObject {
  const { oneOf, ...rest } = schema;
  return Array.isArray(oneOf) && schema['anyOf'] === undefined ? { ...rest, anyOf: oneOf } : schema;
}

function typesOf({ type, properties }: JsonObject): readonly unknown[] {
  if (type === undefined) return asObject(properties) ? ['object'] : [];
  return Array.isArray(type) ? (type as unknown[]) : [type];
}

function isAccepted(name: string, value: unknown, { accepted, formats, minItems }: StrictKeywords): boolean {
  switch (name) {
    case 'format':
      return formats.has(value);
    case 'minItems':
      return minItems.has(value);
    case 'enum':
      return Array.isArray(value) && value.every(isScalar);
    case 'const':
      return isScalar(value);
    default:
      if (LISTS.has(name)) return Array.isArray(value) && value.every(isSchema);
      if (ONE.has(name)) return isSchema(value);
      if (NAMED.has(name)) return Object.values(asObject(value) ?? { value }).every(isSchema);
      return accepted.has(name);
  }
}

function isScalar(value: unknown): boolean {
  return value === null || typeof value !== 'object';
}

function isSchema(value: unknown): boolean {
  return asObject(value) !== undefined;
}

function nested(name: string, value: unknown, keywords: StrictKeywords): unknown {
  const one = (each: unknown) => strictSchema(asObject(each) ?? {}, keywords);
  if (ONE.has(name)) return one(value);
  if (LISTS.has(name)) return (value as readonly unknown[]).map(one);
  if (!NAMED.has(name)) return value;
  return Object.fromEntries(Object.entries(value as JsonObject).map(([key, each]) => [key, one(each)]));
}

function described(description: unknown, moved: JsonObject): string | undefined {
  const own = typeof description === 'string' && description !== '' ? [description] : [];
  const texts = Object.entries(moved).map(([name, value]) => `${name}: ${JSON.stringify(value)}`);
  const all = texts.length === 0 ? own : [...own, `{${texts.join(', ')}}`];
  return all.length === 0 ? undefined : all.join('\n\n');
}

/** The vendor refuses keywords next to a reference. */
function referenceAlone(schema: JsonObject): JsonObject {
  const { $ref: reference, ...siblings } = schema;
  if (reference === undefined || Object.keys(siblings).every((name) => NAMED.has(name))) return schema;
  return { ...siblings, anyOf: [{ $ref: reference }] };
}
