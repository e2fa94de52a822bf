import { isJsonObject, type JsonObject, type JsonValue } from '@gateway/public-api';

/** Finds what a `$ref` of the document names. */
export type Resolve = (pointer: string) => JsonObject;

/** A member of a body: its path, its type and what is said of it. */
export type MemberRow = readonly [path: string, type: string, description: string];

const MAX_DEPTH = 12;
const MAX_LISTED_VALUES = 12;

/** Every member of an object, those of its members included, in order. */
export function memberRows(schema: JsonObject, resolve: Resolve): MemberRow[] {
  return rowsOf(schema, '', resolve, 0);
}

function rowsOf(raw: JsonObject, path: string, resolve: Resolve, depth: number): MemberRow[] {
  if (depth > MAX_DEPTH) return [];
  const schema = structureOf(raw, resolve);
  const { properties, items } = schema;
  if (isJsonObject(items)) return rowsOf(items, `${path}[]`, resolve, depth + 1);
  if (!isJsonObject(properties)) return [];
  const required = Array.isArray(schema['required']) ? schema['required'] : [];
  return Object.entries(properties).flatMap(([name, member]): MemberRow[] => {
    if (!isJsonObject(member)) return [];
    const memberPath = path === '' ? name : `${path}.${name}`;
    const mark = required.includes(name) ? '' : ', optional';
    const target = followed(member, resolve);
    const description = describe(member) || describe(target);
    return [
      [`\`${memberPath}\``, typeOf(target, resolve) + mark, description],
      ...rowsOf(target, memberPath, resolve, depth + 1),
    ];
  });
}

function describe({ description }: JsonObject): string {
  return typeof description === 'string' ? description : '';
}

/** What a reference names. */
function followed(schema: JsonObject, resolve: Resolve): JsonObject {
  const { $ref: pointer } = schema;
  return typeof pointer === 'string' ? followed(resolve(pointer), resolve) : schema;
}

/** Of alternatives, what has members: the list, or the objects taken together. */
function structureOf(raw: JsonObject, resolve: Resolve): JsonObject {
  const schema = followed(raw, resolve);
  const alternatives = schema['oneOf'] ?? schema['anyOf'];
  if (!Array.isArray(alternatives)) return schema;
  const inner = alternatives.filter(isJsonObject).map((one) => structureOf(one, resolve));
  return inner.find(({ items }) => isJsonObject(items)) ?? takenTogether(inner);
}

function takenTogether(objects: readonly JsonObject[]): JsonObject {
  const properties: JsonObject = {};
  const all = objects.map((one) => one['properties']).filter(isJsonObject);
  for (const [name, member] of all.flatMap((one) => Object.entries(one))) {
    const before = properties[name];
    if (before === undefined) properties[name] = member;
    // The member by which they are told apart.
    else if (isJsonObject(before) && isJsonObject(member) && member['const'] !== undefined) {
      const values = Array.isArray(before['enum']) ? before['enum'] : [before['const'] ?? null];
      properties[name] = { enum: [...values, member['const']], description: describe(before) };
    }
  }
  const required = Object.keys(properties).filter((name) =>
    objects.every((one) => Array.isArray(one['required']) && one['required'].includes(name)),
  );
  return { properties, required };
}

/** A type in words, such as `integer, 1 to 9`. */
export function typeOf(schema: JsonObject, resolve: Resolve): string {
  const { type, enum: values, const: only, items, oneOf, anyOf, format } = schema;
  if (only !== undefined) return quoted([only]);
  if (Array.isArray(values)) return values.length > MAX_LISTED_VALUES ? 'string' : quoted(values);
  const alternatives = oneOf ?? anyOf;
  if (Array.isArray(alternatives)) {
    const names = alternatives.filter(isJsonObject).map((one) => typeOf(followed(one, resolve), resolve));
    return [...new Set(names)].join(' or ');
  }
  if (type === 'array') {
    const kind = isJsonObject(items) ? typeOf(followed(items, resolve), resolve) : '';
    return kind === '' || kind === 'any' ? 'array' : `array of ${kind}`;
  }
  const name = Array.isArray(type) ? type.join(' or ') : typeof type === 'string' ? type : 'any';
  return [typeof format === 'string' ? format : name, ...limits(schema)].join(', ');
}

function limits({ minimum, maximum, minLength, maxLength, maxItems }: JsonObject): string[] {
  const range = (low: JsonValue | undefined, high: JsonValue | undefined, unit: string): string[] => {
    // Zero and the bounds of exact integers say nothing to a reader.
    const from = typeof low === 'number' && low !== 0 && low > Number.MIN_SAFE_INTEGER ? low : undefined;
    const to = typeof high === 'number' && high < Number.MAX_SAFE_INTEGER ? high : undefined;
    if (to !== undefined)
      return [`${typeof low === 'number' && from === undefined ? 0 : (from ?? 'up')} to ${to}${unit}`];
    if (from === 1 && unit === ' characters') return ['not empty'];
    return from === undefined ? [] : [`at least ${from}${unit}`];
  };
  return [
    ...range(minimum, maximum, ''),
    ...range(minLength, maxLength, ' characters'),
    ...range(undefined, maxItems, ' items'),
  ];
}

function quoted(values: readonly JsonValue[]): string {
  return values.map((value) => `\`${JSON.stringify(value)}\``).join(', ');
}
