import fc from 'fast-check';
import { isRefusal } from '@gateway/errors';
import { fuzzRuns } from '@gateway/test-support';
import { readFields } from '../chat-completion/rules/field-values';
import type { JsonObject } from '../json/json-value';
import { ableModel, extraModel, plainModel, validate } from '../testing/chat-fixtures';
import { bodiesOf, bodiesWith } from '../testing/shape-values';
import { type FormatName, formatNames, type RequestFormat } from './request-format';
import { requestFormats } from './request-formats';

const others = formatNames.filter((name) => name !== 'chat');
const RUNS = fuzzRuns();

/** Fields of a chat completion that only other formats have. */
const EXTENSIONS: readonly string[] = [];

function translated(format: RequestFormat, body: JsonObject): JsonObject | undefined {
  const copy = readFields({ ...body, model: ableModel.id }, ableModel, format);
  if (isRefusal(copy)) throw new Error(`refused: ${copy.param} ${copy.message}`);
  const result = format.toChat(copy, ableModel);
  return isRefusal(result) ? undefined : result.chat;
}

describe.each(others)('a request in the format %s', (name: FormatName) => {
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
