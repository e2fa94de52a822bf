import fc from 'fast-check';
import { isRefusal } from '@gateway/errors';
import { fuzzRuns, unicodeText } from '@gateway/test-support';
import { readFields } from '../chat-completion/rules/field-values';
import type { Field } from '../chat-completion/schema/field';
import type { Member, RecordShape, Shape } from '../chat-completion/schema/shape';
import type { JsonObject, JsonValue } from '../json/json-value';
import { ableModel, extraModel, plainModel, validate } from '../testing/chat-fixtures';
import { dataUri, png } from '../testing/image-fixtures';
import { pack } from './packed-reasoning';
import { chatFormatNames, type ChatRequestFormat } from './request-format';
import { chatRequestFormats as requestFormats } from './request-formats';

const PNG = dataUri('image/png', png(2, 2));
const PDF = dataUri('application/pdf', Buffer.from('%PDF-1.7'));

/** Valid values of a shape, as far as its rules are in the shape. */
function valuesOf(shape: Shape): fc.Arbitrary<JsonValue> {
  switch (shape.kind) {
    case 'text':
      if (shape.oneOf) return fc.constantFrom(...shape.oneOf);
      if (shape.pattern)
        return fc.constantFrom('a', 'f_1').filter((value) => shape.pattern?.test(value) ?? true);
      if (shape.checkPattern?.startsWith('^data:application')) return fc.constant(PDF);
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
    case 'either':
      return fc.oneof(...shape.shapes.map(valuesOf));
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
function bodiesOf(fields: readonly Field[]): fc.Arbitrary<JsonObject> {
  const used = fields.filter(({ disposition }) => disposition !== 'reject');
  const arbitraries = used.map(({ name, shape }) => [name, valuesOf(shape)] as const);
  const requiredKeys = used.flatMap(({ name, absent }) => (absent === undefined ? [name] : []));
  return fc.record(Object.fromEntries(arbitraries), { requiredKeys }) as fc.Arbitrary<JsonObject>;
}

/** The smallest valid body that has a field, with values for it. */
function bodiesWith(fields: readonly Field[], field: Field): fc.Arbitrary<JsonObject> {
  return bodiesOf(fields.filter(({ name, absent }) => name === field.name || absent === undefined));
}

const others = chatFormatNames.filter((name) => name !== 'chat');
const RUNS = fuzzRuns();

/** Fields of a chat completion that only other formats have. */
const EXTENSIONS: readonly string[] = [];

function translated(format: ChatRequestFormat, body: JsonObject): JsonObject | undefined {
  const copy = readFields({ ...body, model: ableModel.id }, ableModel, format);
  if (isRefusal(copy)) throw new Error(`refused: ${copy.param} ${copy.message}`);
  const result = format.toChat(copy, ableModel);
  return isRefusal(result) ? undefined : result.chat;
}

/** A conversation whose assistant repeats opaque texts. */
const REPEATED: Readonly<Record<(typeof others)[number], (texts: readonly string[]) => JsonObject>> = {
  messages: (texts) => ({
    max_tokens: 10,
    messages: [
      { role: 'user', content: 'Hello' },
      { role: 'assistant', content: texts.map((data) => ({ type: 'redacted_thinking', data })) },
      { role: 'user', content: 'Hello' },
    ],
  }),
  responses: (texts) => ({
    input: [
      ...texts.map((encrypted_content) => ({ type: 'reasoning', summary: [], encrypted_content })),
      { role: 'assistant', content: 'Hello' },
      { role: 'user', content: 'Hello' },
    ],
  }),
};

describe.each(others)('a request in the format %s', (name) => {
  const format = requestFormats[name];

  it.each(
    format.fields.filter(({ disposition }) => disposition !== 'reject').map((field) => [field.name, field]),
  )('has a valid translation with every value of %s', (_name, field) => {
    fc.assert(
      fc.property(bodiesWith(format.fields, field), (body) => {
        const chat = translated(format, body);
        if (chat === undefined) return;
        expect(Object.keys(chat).filter((each) => !requestFormats.chat.fieldsByName.has(each))).toEqual(
          EXTENSIONS,
        );
        const read = readFields(chat, ableModel, requestFormats.chat);
        if (isRefusal(read)) throw new Error(`${read.param}: ${read.message} in ${JSON.stringify(chat)}`);
      }),
      RUNS,
    );
  });

  it('is accepted or refused in its own terms, whatever the model supports', () => {
    const models = fc.constantFrom(ableModel.id, plainModel.id, extraModel.id);
    fc.assert(
      fc.property(bodiesOf(format.fields), models, (body, model) => {
        const result = validate({ ...body, model }, {}, undefined, name);
        if (!isRefusal(result) || result.param === undefined) return;
        const [field = ''] = /^[^.[]+/.exec(result.param) ?? [];
        const isOwn = format.fieldsByName.has(field) || result.code === 'max_tokens_exceeds_cap';
        expect({ param: result.param, isOwn }).toEqual({ param: result.param, isOwn: true });
      }),
      RUNS,
    );
  });

  it('is refused for each rejected and each unknown field, by name', () => {
    const minimal = fc.sample(bodiesWith(format.fields, format.fields[0]!), { numRuns: 1, seed: 1 })[0]!;
    const rejected = format.fields.filter(({ disposition }) => disposition === 'reject');
    for (const field of [...rejected.map((each) => each.name), 'foo', 'constructor']) {
      const result = validate({ ...minimal, model: ableModel.id, [field]: 1 }, {}, undefined, name);
      expect(result).toMatchObject({ code: 'unknown_parameter', param: field });
    }
  });

  it('reads packed reasoning as far as its values are bounded, however many texts have it', () => {
    const packed = (details: number) =>
      pack({ details: Array.from({ length: details }, () => ({})), calls: {} });
    for (const texts of [[packed(131_000)], Array.from({ length: 1_000 }, () => packed(60))]) {
      const result = validate({ model: ableModel.id, ...REPEATED[name](texts) }, {}, undefined, name);
      if (isRefusal(result)) throw new Error(result.message);
      const { messages } = JSON.parse(Buffer.from(result.bodyJson).toString()) as { messages: JsonObject[] };
      const details = messages.flatMap((each) => (each['reasoning_details'] ?? []) as JsonObject[]);
      expect(details.length).toBeLessThanOrEqual(16_384);
    }
  });

  it('never throws, whatever the body', () => {
    const junk = fc.jsonValue({ maxDepth: 4 });
    const names = fc.constantFrom(...format.fields.map((field) => field.name));
    fc.assert(
      fc.property(bodiesOf(format.fields), fc.dictionary(names, junk), (body, wrong) => {
        validate({ ...body, model: ableModel.id, ...wrong } as JsonObject, {}, undefined, name);
      }),
      RUNS,
    );
  });
});
