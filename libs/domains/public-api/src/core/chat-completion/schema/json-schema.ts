import { unreachable } from '@gateway/base';
import type { JsonObject, JsonValue } from '../../json/json-value';
import type { Field } from './field';
import { describe, type Member, type Shape, type VariantsShape } from './shape';

/** The body of a request as JSON Schema 2020-12, for the API documentation. */
export function requestJsonSchema(fields: readonly Field[]): JsonObject {
  const properties = fields.map((field): [string, JsonValue] => [
    field.name,
    field.disposition === 'reject'
      ? onlyNull(field.hint)
      : described(describe(field.doc, field.absent), field.shape),
  ]);
  return {
    type: 'object',
    properties: Object.fromEntries(properties),
    required: fields
      .filter(({ absent, disposition }) => absent === undefined && disposition !== 'reject')
      .map(({ name }) => name),
    additionalProperties: false,
  };
}

/** The JSON Schema of a shape, without the rules that are code. */
export function shapeToJsonSchema(shape: Shape): JsonObject {
  switch (shape.kind) {
    case 'text':
      return defined({
        type: 'string',
        enum: shape.oneOf && [...shape.oneOf],
        minLength: shape.minLength,
        maxLength: shape.maxLength,
        pattern: shape.pattern?.source ?? shape.checkPattern,
      });
    case 'number':
      if (shape.int64) return { type: 'integer', format: 'int64' };
      return defined({ type: shape.integer ? 'integer' : 'number', minimum: shape.min, maximum: shape.max });
    case 'boolean':
      return { type: 'boolean' };
    case 'list':
      return defined({
        type: 'array',
        items: shapeToJsonSchema(shape.items),
        minItems: shape.minItems,
        maxItems: shape.maxItems,
      });
    case 'record': {
      const members = Object.entries(shape.members);
      const refused = Object.entries(shape.refused ?? {}).map(([name, instead]) => [name, onlyNull(instead)]);
      const requiredNames = members.filter(([, member]) => member.required).map(([name]) => name);
      return defined({
        type: 'object',
        properties: Object.fromEntries([
          ...members.map(([name, member]) => [name, memberSchema(member)]),
          ...refused,
        ]) as JsonObject,
        required: requiredNames.length > 0 ? requiredNames : undefined,
      });
    }
    case 'variants':
      return variantSchemas(shape);
    case 'map':
      return {
        type: 'object',
        propertyNames: shapeToJsonSchema(shape.name),
        additionalProperties: shapeToJsonSchema(shape.values),
        maxProperties: shape.maxEntries,
      };
    case 'object':
      return { type: 'object' };
    case 'any':
      return {};
    case 'textOr':
      return { oneOf: [shapeToJsonSchema(shape.text), shapeToJsonSchema(shape.other)] };
    case 'either':
      return { anyOf: shape.shapes.map(shapeToJsonSchema) };
    default:
      return unreachable(shape);
  }
}

function memberSchema(member: Member): JsonObject {
  const meaning = describe(member.meaning, member.required ? undefined : member.absent);
  return described(meaning, member.shape);
}

function described(description: string, shape: Shape): JsonObject {
  return { description, ...shapeToJsonSchema(shape) };
}

/** A refused field: only null is accepted, which means absent. */
function onlyNull(instead = 'It is not supported.'): JsonObject {
  return { type: 'null', description: `Refused: ${instead}` };
}

function variantSchemas({ tag, variants, untagged }: VariantsShape): JsonObject {
  const schemas = [...variants].map(([value, variant]) => {
    const schema = shapeToJsonSchema(variant);
    const meaning = variant.members[tag]?.meaning ?? '';
    const properties = {
      ...(schema['properties'] as JsonObject),
      [tag]: { description: meaning, const: value },
    };
    return { ...schema, properties };
  });
  if (schemas.length === 1 && schemas[0]) return schemas[0];
  // Without the tag, a record may match several.
  return untagged === undefined ? { oneOf: schemas } : { anyOf: schemas };
}

function defined(schema: Readonly<Record<string, JsonValue | undefined>>): JsonObject {
  const present = Object.entries(schema).filter(
    (entry): entry is [string, JsonValue] => entry[1] !== undefined,
  );
  return Object.fromEntries(present);
}
