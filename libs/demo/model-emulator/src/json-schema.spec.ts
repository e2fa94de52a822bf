import { sampleValue, type Json, type Schema } from './json-schema';
import { createRandom } from './random';

const samples = (schema: Schema): Json[] =>
  Array.from({ length: 50 }, (_, seed) => sampleValue(schema, createRandom(seed)));

describe('a sampled value', () => {
  it('is the same for the same seed', () => {
    const schema = { type: 'object', properties: { a: { type: 'string' }, b: { type: 'number' } } };
    expect(samples(schema)).toEqual(samples(schema));
    expect(new Set(samples(schema).map((value) => JSON.stringify(value))).size).toBeGreaterThan(1);
  });

  it('has every required property, with or without a schema', () => {
    const schema = { properties: { a: { type: 'boolean' } }, required: ['a', 'b'] };
    for (const value of samples(schema)) {
      expect(value).toEqual({ a: expect.any(Boolean), b: expect.any(String) });
    }
  });

  it('stays within bounds', () => {
    for (const value of samples({ type: 'integer', minimum: 3, maximum: 5 }))
      expect([3, 4, 5]).toContain(value);
    for (const value of samples({ type: 'integer', exclusiveMinimum: 3, exclusiveMaximum: 5 }))
      expect(value).toBe(4);
    for (const value of samples({ type: 'integer', maximum: -7 })) expect(value).toBeLessThanOrEqual(-7);
    for (const value of samples({ type: 'number', minimum: 0.5, maximum: 0.75 })) {
      expect(value).toBeGreaterThanOrEqual(0.5);
      expect(value).toBeLessThanOrEqual(0.75);
    }
    for (const value of samples({ type: 'integer', minimum: 10, multipleOf: 7 })) expect(value).toBe(14);
    for (const value of samples({ type: 'string', minLength: 40, maxLength: 44 })) {
      expect(String(value).length).toBeGreaterThanOrEqual(40);
      expect(String(value).length).toBeLessThanOrEqual(44);
    }
    for (const value of samples({ type: 'array', minItems: 2, maxItems: 3, items: { type: 'null' } })) {
      expect([2, 3]).toContain((value as Json[]).length);
    }
  });

  it('follows allOf, unions, constants and references', () => {
    const schema = {
      $defs: { named: { properties: { name: { const: 'n' } }, required: ['name'] } },
      allOf: [{ $ref: '#/$defs/named' }, { properties: { kind: { enum: ['k'] } }, required: ['kind'] }],
    };
    for (const value of samples(schema)) expect(value).toEqual({ name: 'n', kind: 'k' });
    for (const value of samples({ oneOf: [{ type: 'null' }, { type: 'string' }] })) expect(value).toBeNull();
  });

  it.each<[string, Schema]>([
    ['an infinite tree', tree(['a', 'b', 'c', 'd'])],
    ['a reference to itself', { $ref: '#' }],
    ['an allOf that contains itself', { allOf: [{ $ref: '#' }] }],
    ['a reference to nothing', { $ref: '#/nowhere' }],
    ['huge minimums', { type: 'array', minItems: 1e12, items: { type: 'string', minLength: 1e12 } }],
    ['nonsense', { type: 7, properties: 'x', required: 3, enum: [], items: null }],
  ])('is bounded for %s', (_name, schema) => {
    const text = JSON.stringify(sampleValue(schema, createRandom(1)));
    expect(text.length).toBeLessThan(2_000_000);
  });
});

/** Every property is required and refers to the root schema. */
function tree(names: readonly string[]): Schema {
  return {
    type: 'object',
    required: names,
    properties: Object.fromEntries(names.map((name) => [name, { $ref: '#' }])),
  };
}
