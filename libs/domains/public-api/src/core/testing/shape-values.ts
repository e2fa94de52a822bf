import fc from 'fast-check';
import { unicodeText } from '@gateway/test-support';
import type { Field } from '../chat-completion/schema/field';
import type { Member, RecordShape, Shape } from '../chat-completion/schema/shape';
import type { JsonObject, JsonValue } from '../json/json-value';
import { dataUri, png } from './image-fixtures';

const PNG = dataUri('image/png', png(2, 2));

/** Valid values of a shape, as far as its rules are in the shape. */
export function valuesOf(shape: Shape): fc.Arbitrary<JsonValue> {
  switch (shape.kind) {
    case 'text':
      if (shape.oneOf) return fc.constantFrom(...shape.oneOf);
      if (shape.pattern)
        return fc.constantFrom('a', 'f_1').filter((value) => shape.pattern?.test(value) ?? true);
      if (shape.checkPattern?.startsWith('^data:')) return fc.constant(PNG);
      if (shape.read) return fc.constantFrom('user-1', 'Ann');
      return unicodeText({ maxLength: Math.min(shape.maxLength ?? 12, 12) }).filter(
        ({ length }) => length >= (shape.minLength ?? 0),
      );
    case 'number': {
      const { min = 0, max = 100, integer, int64 } = shape;
      const bounded = Math.min(max, min + 100_000);
      return integer || int64
        ? fc.integer({ min: Math.ceil(min), max: Math.floor(bounded) })
        : fc.double({ min, max: bounded, noNaN: true }).map((value) => (Object.is(value, -0) ? 0 : value));
    }
    case 'boolean':
      return fc.boolean();
    case 'list':
      return fc.array(valuesOf(shape.items), {
        minLength: shape.minItems ?? 0,
        maxLength: Math.min(shape.maxItems ?? 3, 3),
      });
    case 'record':
      return recordOf(shape);
    case 'variants':
      return fc.oneof(
        ...[...shape.variants].map(([tag, variant]) =>
          recordOf(variant).map((value): JsonValue => ({ ...value, [shape.tag]: tag })),
        ),
      );
    case 'textOr':
      return fc.oneof(valuesOf(shape.text), valuesOf(shape.other));
    case 'map':
      return fc.constant({});
    case 'object':
      return fc.constantFrom<JsonValue>({}, { type: 'object', properties: { a: { type: 'string' } } });
    case 'any':
      return fc.constantFrom<JsonValue>('a', 1, null);
  }
}

function recordOf({ members }: RecordShape): fc.Arbitrary<JsonObject> {
  const arbitraries = Object.entries(members).map(
    ([name, member]) => [name, valuesOf(member.shape)] as const,
  );
  const requiredKeys = Object.entries(members).flatMap(([name, member]: [string, Member]) =>
    member.required ? [name] : [],
  );
  return fc.record(Object.fromEntries(arbitraries), { requiredKeys }) as fc.Arbitrary<JsonObject>;
}

/** Bodies whose fields have valid shapes. */
export function bodiesOf(fields: readonly Field[]): fc.Arbitrary<JsonObject> {
  const used = fields.filter(({ disposition }) => disposition !== 'reject');
  const arbitraries = used.map(({ name, shape }) => [name, valuesOf(shape)] as const);
  const requiredKeys = used.flatMap(({ name, absent }) => (absent === undefined ? [name] : []));
  return fc.record(Object.fromEntries(arbitraries), { requiredKeys }) as fc.Arbitrary<JsonObject>;
}

/** The smallest valid body that has a field, with values for it. */
export function bodiesWith(fields: readonly Field[], field: Field): fc.Arbitrary<JsonObject> {
  return bodiesOf(fields.filter(({ name, absent }) => name === field.name || absent === undefined));
}
