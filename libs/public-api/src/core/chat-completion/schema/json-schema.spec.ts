import { chatFields } from './fields';
import { chatRequestJsonSchema, shapeToJsonSchema } from './json-schema';
import { any, boolean, list, number, optional, record, required, text, textOr, variants } from './shape';

test('the schema of the body lists every field that is taken, and no other', () => {
  const schema = chatRequestJsonSchema();
  const taken = chatFields.filter((field) => field.disposition !== 'reject').map((field) => field.name);
  expect(Object.keys(schema['properties'] ?? {})).toEqual(taken);
  expect(schema).toMatchObject({ required: ['model', 'messages'], additionalProperties: false });
});

test('it is plain JSON', () => {
  const schema = chatRequestJsonSchema();
  expect(JSON.parse(JSON.stringify(schema))).toEqual(schema);
});

test.each([
  [
    text({ minLength: 1, maxLength: 5, pattern: /^a/ }),
    { type: 'string', minLength: 1, maxLength: 5, pattern: '^a' },
  ],
  [
    text({ oneOf: ['a', 'b'], doc: 'One of two.' }),
    { description: 'One of two.', type: 'string', enum: ['a', 'b'] },
  ],
  [number({ integer: true, min: 0, max: 9 }), { type: 'integer', minimum: 0, maximum: 9 }],
  [list(boolean(), { minItems: 1 }), { type: 'array', items: { type: 'boolean' }, minItems: 1 }],
  [textOr(list(any())), { oneOf: [{ type: 'string' }, { type: 'array', items: {} }] }],
  [
    record({ a: required(text()), b: optional(number()) }),
    { type: 'object', properties: { a: { type: 'string' }, b: { type: 'number' } }, required: ['a'] },
  ],
  [
    variants('type', { x: record({ type: required(text()), n: optional(number()) }) }),
    { type: 'object', properties: { type: { const: 'x' }, n: { type: 'number' } }, required: ['type'] },
  ],
  [
    variants('type', { x: record({ type: required(text()) }), y: record({ type: required(text()) }) }),
    {
      oneOf: [
        { type: 'object', properties: { type: { const: 'x' } }, required: ['type'] },
        { type: 'object', properties: { type: { const: 'y' } }, required: ['type'] },
      ],
    },
  ],
])('%j', (shape, expected) => {
  expect(shapeToJsonSchema(shape)).toEqual(expected);
});
