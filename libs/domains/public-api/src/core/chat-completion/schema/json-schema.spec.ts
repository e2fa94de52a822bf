import { chatFields } from './fields';
import { requestJsonSchema, shapeToJsonSchema } from './json-schema';
import { any, boolean, list, number, optional, record, required, text, textOr, variants } from './shape';

it('lists every field, those that are refused with null only, and no other', () => {
  const schema = requestJsonSchema(chatFields);
  const properties = schema['properties'] as Record<string, { type?: string }>;
  expect(Object.keys(properties)).toEqual(chatFields.map(({ name }) => name));
  const onlyNull = Object.keys(properties).filter((name) => properties[name]?.type === 'null');
  const refused = chatFields.filter(({ disposition }) => disposition === 'reject');
  expect(onlyNull).toEqual(refused.map(({ name }) => name));
  expect(schema).toMatchObject({ required: ['model', 'messages'], additionalProperties: false });
});

it('describes every field, and the default of every optional one', () => {
  const { properties, required: names } = requestJsonSchema(chatFields);
  for (const [name, { description }] of Object.entries(
    properties as Record<string, { description: string }>,
  )) {
    const isRequired = (names as string[]).includes(name);
    expect([name, description]).toEqual([
      name,
      expect.stringMatching(isRequired ? /\.$/ : /^[A-Z].*[.:] Default: .+\.$|^Refused: [A-Z].*\.$/),
    ]);
  }
});

it('is plain JSON', () => {
  const schema = requestJsonSchema(chatFields);
  expect(JSON.parse(JSON.stringify(schema))).toEqual(schema);
});

it.each([
  [
    text({ minLength: 1, maxLength: 5, pattern: /^a/ }),
    { type: 'string', minLength: 1, maxLength: 5, pattern: '^a' },
  ],
  [text({ oneOf: ['a', 'b'] }), { type: 'string', enum: ['a', 'b'] }],
  [number({ integer: true, min: 0, max: 9 }), { type: 'integer', minimum: 0, maximum: 9 }],
  [list(boolean(), { minItems: 1 }), { type: 'array', items: { type: 'boolean' }, minItems: 1 }],
  [textOr(list(any())), { oneOf: [{ type: 'string' }, { type: 'array', items: {} }] }],
  [
    record({ a: required(text(), 'An A.'), b: optional(number(), 'A B, in bytes.', '8') }),
    {
      type: 'object',
      properties: {
        a: { type: 'string', description: 'An A.' },
        b: { type: 'number', description: 'A B, in bytes. Default: 8.' },
      },
      required: ['a'],
    },
  ],
  [
    variants('type', { x: record({ type: required(text(), 'Its kind.') }) }),
    {
      type: 'object',
      properties: { type: { const: 'x', description: 'Its kind.' } },
      required: ['type'],
    },
  ],
  [
    variants('type', {
      x: record({ type: required(text(), 'An X.') }),
      y: record({ type: required(text(), 'A Y.') }),
    }),
    {
      oneOf: [
        { type: 'object', properties: { type: { const: 'x', description: 'An X.' } }, required: ['type'] },
        { type: 'object', properties: { type: { const: 'y', description: 'A Y.' } }, required: ['type'] },
      ],
    },
  ],
])('%j', (shape, expected) => {
  expect(shapeToJsonSchema(shape)).toEqual(expected);
});
