import { between, pick, type Random } from './random';
import { phrase } from './text';

export type Json = string | number | boolean | null | Json[] | { [key: string]: Json };
export type Schema = { readonly [key: string]: unknown };

/** Values nested deeper than this are null. */
const MAX_DEPTH = 12;
/** Limits the values of one sample, because a schema can be recursive without end. */
const MAX_VALUES = 2_000;
/** Limits the minimum number of characters or items that a schema can require. */
const MAX_LENGTH = 1_000;

/** The state of sampling one value. */
interface Sampling {
  readonly root: Schema;
  readonly random: Random;
  valuesLeft: number;
}

export function isObject(value: unknown): value is { [key: string]: unknown } {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** A deterministic value that matches the schema: required properties, and optional ones at random. */
export function sampleValue(schema: Schema, random: Random): Json {
  return sample(schema, { root: schema, random, valuesLeft: MAX_VALUES }, 0, 'value');
}

function resolve(schema: Schema, root: Schema): Schema {
  let current = schema;
  // A longer chain of references is treated as a loop.
  for (let hops = 0; hops < MAX_DEPTH && typeof current['$ref'] === 'string'; hops++) {
    let target: unknown = root;
    for (const part of current['$ref'].replace(/^#\/?/, '').split('/')) {
      if (part === '') continue;
      target = isObject(target) ? target[part.replace(/~1/g, '/').replace(/~0/g, '~')] : undefined;
    }
    current = isObject(target) ? target : {};
  }
  return current;
}

function sample(written: Schema, sampling: Sampling, depth: number, name: string): Json {
  const { root, random } = sampling;
  const schema = resolve(written, root);
  if (depth > MAX_DEPTH || sampling.valuesLeft-- <= 0) return null;
  if ('const' in schema) return schema['const'] as Json;
  if (Array.isArray(schema['enum']) && schema['enum'].length > 0)
    return pick(random, schema['enum'] as Json[]);
  if (Array.isArray(schema['allOf'])) return sample(mergeAll(schema, root), sampling, depth + 1, name);
  for (const union of ['anyOf', 'oneOf']) {
    const choices = schema[union];
    const first: unknown = Array.isArray(choices) ? choices[0] : undefined;
    if (isObject(first)) return sample(first, sampling, depth + 1, name);
  }
  switch (typeOf(schema)) {
    case 'object':
      return sampleObject(schema, sampling, depth);
    case 'array':
      return sampleArray(schema, sampling, depth, name);
    case 'integer':
      return sampleNumber(schema, random, true);
    case 'number':
      return sampleNumber(schema, random, false);
    case 'boolean':
      return random() < 0.5;
    case 'null':
      return null;
    default:
      return sampleString(schema, random, name);
  }
}

function typeOf(schema: Schema): string {
  const type = schema['type'];
  if (typeof type === 'string') return type;
  if (Array.isArray(type)) return String(type.find((one) => one !== 'null') ?? 'null');
  if ('properties' in schema) return 'object';
  return 'items' in schema ? 'array' : 'string';
}

function mergeAll(schema: Schema, root: Schema): Schema {
  const { allOf, ...rest } = schema;
  let merged: { [key: string]: unknown } = { ...rest };
  for (const part of Array.isArray(allOf) ? allOf : []) {
    if (!isObject(part)) continue;
    const one = resolve(part, root);
    const properties = { ...asObject(merged['properties']), ...asObject(one['properties']) };
    const required = [...asArray(merged['required']), ...asArray(one['required'])];
    merged = { ...merged, ...one, properties, required };
  }
  return merged;
}

function asObject(value: unknown): { [key: string]: unknown } {
  return isObject(value) ? value : {};
}

function asArray(value: unknown): unknown[] {
  return Array.isArray(value) ? value : [];
}

function sampleObject(schema: Schema, sampling: Sampling, depth: number): Json {
  const { random } = sampling;
  const required = new Set(asArray(schema['required']));
  const result: { [key: string]: Json } = {};
  for (const [key, property] of Object.entries(asObject(schema['properties']))) {
    const wanted = required.has(key) || (depth < 3 && random() < 0.5);
    if (wanted) result[key] = sample(asObject(property), sampling, depth + 1, key);
    required.delete(key);
  }
  // A required property may have no schema.
  for (const key of required) if (typeof key === 'string') result[key] = phrase(random, 2);
  return result;
}

function sampleArray(schema: Schema, sampling: Sampling, depth: number, name: string): Json {
  const least = Math.min(MAX_LENGTH, numberOr(schema['minItems'], depth > 3 ? 0 : 1));
  const most = Math.max(least, Math.min(numberOr(schema['maxItems'], least + 2), least + 2));
  const items: Json[] = [];
  const count = between(sampling.random, least, most);
  for (let index = 0; index < count; index++) {
    items.push(sample(asObject(schema['items']), sampling, depth + 1, name));
  }
  return items;
}

function numberOr(value: unknown, fallback: number): number {
  return typeof value === 'number' && Number.isFinite(value) ? value : fallback;
}

function sampleNumber(schema: Schema, random: Random, whole: boolean): number {
  const step = whole ? 1 : 0.01;
  const least = Math.max(
    numberOr(schema['minimum'], -Infinity),
    numberOr(schema['exclusiveMinimum'], -Infinity) + step,
  );
  const most = Math.min(
    numberOr(schema['maximum'], Infinity),
    numberOr(schema['exclusiveMaximum'], Infinity) - step,
  );
  const low = Number.isFinite(least) ? least : Number.isFinite(most) ? most - 100 : 1;
  const high = Number.isFinite(most) ? most : low + 99;
  const multiple = numberOr(schema['multipleOf'], 0);
  if (multiple > 0) return Math.ceil(low / multiple) * multiple;
  if (whole) return between(random, Math.ceil(low), Math.floor(high));
  return Math.min(high, Math.round((low + random() * (high - low)) * 100) / 100);
}

const FORMATS: Readonly<Record<string, string>> = {
  'date-time': '2026-01-02T03:04:05Z',
  date: '2026-01-02',
  time: '03:04:05Z',
  email: 'someone@example.com',
  uri: 'https://example.com/',
  uuid: '3f2b8c1e-7d4a-4c5b-9e6f-0a1b2c3d4e5f',
  ipv4: '192.0.2.1',
  ipv6: '2001:db8::1',
  hostname: 'example.com',
};

function sampleString(schema: Schema, random: Random, name: string): string {
  const format = schema['format'];
  if (typeof format === 'string' && FORMATS[format] !== undefined) return FORMATS[format];
  let text = `${name}: ${phrase(random, 2)}`;
  const least = Math.min(MAX_LENGTH, numberOr(schema['minLength'], 0));
  while (text.length < least) text += ` ${phrase(random, 2)}`;
  return text.slice(0, Math.max(least, numberOr(schema['maxLength'], text.length)));
}
