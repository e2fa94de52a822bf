import type { JsonValue } from '../json/json-value';
import { ableModel, chatBody, quarterCounter, validate, verdict } from '../testing/chat-fixtures';
import type { CallerPolicy } from './types';

interface SingleFault {
  readonly answer: string;
  readonly fields: Readonly<Record<string, JsonValue | undefined>>;
  readonly policy?: Partial<CallerPolicy>;
}

const remoteImage = { type: 'image_url', image_url: { url: 'https://example.com/a.png' } };
const inlineImage = {
  type: 'image_url',
  image_url: { url: 'data:image/gif;base64,R0lGODlhAQABAIAAAAAAAP///yH5BAEAAAAALAAAAAABAAEAAAIBRAA7' },
};
const withPart = (part: JsonValue): JsonValue => [
  { role: 'user', content: [{ type: 'text', text: 'Look' }, part] },
];
const plain = { model: 'acme/plain' };

/** In the order in which they are answered. Later entries may lean on fields that earlier ones replace. */
const faults: readonly SingleFault[] = [
  { answer: 'missing_model model', fields: { model: null } },
  { answer: 'missing_messages messages', fields: { messages: [] } },
  { answer: 'unknown_parameter bar', fields: { bar: 1, foo: 1 } },
  { answer: 'invalid_request temperature', fields: { temperature: 'hot', top_p: 7 } },
  {
    answer: 'image_url_not_supported messages[0].content[1].image_url.url',
    fields: { messages: withPart(remoteImage) },
  },
  {
    answer: 'json_mode_no_stream response_format',
    fields: { response_format: { type: 'json_object' }, stream: true },
  },
  { answer: 'n_not_allowed n', fields: { n: 2 } },
  {
    answer: 'max_tokens_exceeds_cap max_tokens',
    fields: { max_tokens: 9_000 },
    policy: { maxOutputTokensCap: 100 },
  },
  { answer: 'model_not_found model', fields: { model: 'acme/none' } },
  { answer: 'model_not_allowed model', fields: plain, policy: { allowedModels: ['acme/able'] } },
  {
    answer: 'tools_not_supported tools',
    fields: { ...plain, tools: [{ type: 'function', function: { name: 'f' } }] },
  },
  {
    answer: 'vision_not_available messages[0].content[1]',
    fields: { ...plain, messages: withPart(inlineImage) },
  },
  {
    answer: 'json_mode_not_supported response_format',
    fields: { ...plain, response_format: { type: 'json_object' } },
  },
  {
    answer: 'reasoning_effort_not_supported reasoning_effort',
    fields: { ...plain, reasoning_effort: 'low' },
  },
  { answer: 'invalid_request logprobs', fields: { ...plain, logprobs: true } },
  {
    answer: 'context_length_exceeded messages',
    fields: { max_tokens: ableModel.contextLength },
  },
];

function answerOf(...combined: readonly SingleFault[]): string {
  const body = chatBody(Object.assign({}, ...combined.map((fault) => fault.fields)));
  const policy = Object.assign({}, ...combined.map((fault) => fault.policy ?? {}));
  return verdict(validate(body, policy, quarterCounter));
}

const pairs = faults.flatMap((first, index) =>
  faults
    .slice(index + 1)
    .map((second): [string, string, SingleFault, SingleFault] => [
      first.answer,
      second.answer,
      first,
      second,
    ]),
);

describe('one fault', () => {
  it.each(faults.map((fault): [string, SingleFault] => [fault.answer, fault]))('%s', (answer, fault) => {
    expect(answerOf(fault)).toBe(answer);
  });
});

describe('of two faults the earlier check answers', () => {
  // The earlier fault's fields win, so that it is surely there.
  it.each(pairs)('%s before %s', (answer, _later, first, second) => {
    expect(answerOf(second, first)).toBe(answer);
  });
});

it('of all faults at once, each mended in turn, the answers come in order', () => {
  const answers: string[] = [];
  for (let mended = 0; mended < faults.length; mended += 1) {
    answers.push(answerOf(...faults.slice(mended).reverse()));
  }
  expect(answers).toEqual(faults.map((fault) => fault.answer));
});
