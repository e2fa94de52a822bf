import { unreachable } from '@gateway/base';
import type { JsonObject, JsonValue } from '../../json/json-value';
import { chatFields } from './fields';
import type { Shape, VariantsShape } from './shape';

/** The body of POST /v1/chat/completions as JSON Schema 2020-12, for the API documentation. */
export function chatRequestJsonSchema(): JsonObject {
  const taken = chatFields.filter((field) => field.disposition !== 'reject');
  const properties = taken.map((field): [string, JsonValue] => [
    field.name,
    { description: field.doc, ...shapeToJsonSchema(field.shape) },
  ]);
  return {
    type: 'object',
    properties: Object.fromEntries(properties),
    required: ['model', 'messages'],
    additionalProperties: false,
  };
}

/** What a shape says, without its rules that are code. */
export function shapeToJsonSchema(shape: Shape): JsonObject {
  return { ...(shape.doc === undefined ? {} : { description: shape.doc }), ...keywords(shape) };
}

function keywords(shape: Shape): JsonObject {
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
      const needed = members.filter(([, member]) => member.required).map(([name]) => name);
      return defined({
        type: 'object',
        properties: Object.fromEntries(members.map(([name, { shape: of }]) => [name, shapeToJsonSchema(of)])),
        required: needed.length > 0 ? needed : undefined,
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
    default:
      return unreachable(shape);
  }
}

function variantSchemas({ tag, variants }: VariantsShape): JsonObject {
  const schemas = [...variants].map(([value, variant]) => {
    const schema = keywords(variant);
    return { ...schema, properties: { ...(schema['properties'] as JsonObject), [tag]: { const: value } } };
  });
  return schemas.length === 1 && schemas[0] ? schemas[0] : { oneOf: schemas };
}

function defined(schema: Readonly<Record<string, JsonValue | undefined>>): JsonObject {
  const present = Object.entries(schema).filter(
    (entry): entry is [string, JsonValue] => entry[1] !== undefined,
  );
  return Object.fromEntries(present);
}
