import { isObject, type Schema } from '../json-schema';

/** Anthropic, "Structured outputs"; Amazon Bedrock, "Get validated JSON results from models". */
const REFUSED = new Set(
  (
    'minimum maximum exclusiveMinimum exclusiveMaximum multipleOf minLength maxLength maxItems uniqueItems contains ' +
    'minProperties maxProperties patternProperties propertyNames not if then else oneOf'
  ).split(' '),
);

/** @returns what structured outputs refuse in a schema; undefined: nothing. */
export function problemOf(schema: unknown, isNames = false): string | undefined {
  if (Array.isArray(schema)) return firstOf(schema.map((item) => problemOf(item)));
  if (!isObject(schema)) return undefined;
  if (isNames) return firstOf(Object.values(schema).map((each) => problemOf(each)));
  const refused = Object.keys(schema).find((name) => REFUSED.has(name));
  if (refused !== undefined) return `property '${refused}' is not supported`;
  const { type, minItems } = schema;
  if (type === 'object' && schema['additionalProperties'] !== false)
    return "For 'object' type, 'additionalProperties' must be explicitly set to false";
  if (minItems !== undefined && minItems !== 0 && minItems !== 1)
    return "For 'array' type, 'minItems' values other than 0 or 1 are not supported";
  return firstOf([
    problemOf(schema['properties'], true),
    problemOf(schema['$defs'], true),
    problemOf(schema['definitions'], true),
    ...['items', 'anyOf', 'allOf'].map((name) => problemOf(schema[name])),
  ]);
}

function firstOf(problems: readonly (string | undefined)[]): string | undefined {
  return problems.find((problem) => problem !== undefined);
}

/** Anthropic, "Define tools", and the texts of its errors. Strict tools have the same rule. */
const UNIONS = ['anyOf', 'oneOf', 'allOf'];

/** @returns what Claude refuses at the top of a tool's schema, strict or not; undefined: nothing. */
export function problemOfToolSchema(schema: Schema): string | undefined {
  if (!UNIONS.some((name) => name in schema)) return undefined;
  return 'input_schema does not support oneOf, allOf, or anyOf at the top level';
}
