import type { JsonValue } from '../json/json-value';
import { ableModel, chatBody, quarterCounter, validate, verdict } from '../testing/chat-fixtures';
import type { CallerPolicy } from './types';

interface SingleIssue {
  readonly verdict: string;
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

/** In the order of checks. Later entries may depend on fields that earlier ones replace. */
const issues: readonly SingleIssue[] = [
  { verdict: 'missing_model model', fields: { model: null } },
  { verdict: 'missing_messages messages', fields: { messages: [] } },
  { verdict: 'unknown_parameter bar', fields: { bar: 1, foo: 1 } },
  { verdict: 'invalid_request temperature', fields: { temperature: 'hot', top_p: 7 } },
  {
    verdict: 'image_url_not_supported messages[0].content[1].image_url.url',
    fields: { messages: withPart(remoteImage) },
  },
  {
    verdict: 'json_mode_no_stream response_format',
    fields: { response_format: { type: 'json_object' }, stream: true },
  },
  { verdict: 'n_not_allowed n', fields: { n: 2 } },
  {
    verdict: 'max_tokens_exceeds_cap max_tokens',
    fields: { max_tokens: 9_000 },
    policy: { maxOutputTokensCap: 100 },
  },
  { verdict: 'model_not_found model', fields: { model: 'acme/none' } },
  { verdict: 'model_not_allowed model', fields: plain, policy: { allowedModels: ['acme/able'] } },
  {
    verdict: 'tools_not_supported tools',
    fields: { ...plain, tools: [{ type: 'function', function: { name: 'f' } }] },
  },
  {
    verdict: 'vision_not_available messages[0].content[1]',
    fields: { ...plain, messages: withPart(inlineImage) },
  },
  {
    verdict: 'json_mode_not_supported response_format',
    fields: { ...plain, response_format: { type: 'json_object' } },
  },
  {
    verdict: 'reasoning_effort_not_supported reasoning_effort',
    fields: { ...plain, reasoning_effort: 'low' },
  },
  { verdict: 'invalid_request logprobs', fields: { ...plain, logprobs: true } },
  {
    verdict: 'context_length_exceeded messages',
    fields: { max_tokens: ableModel.contextLength },
  },
];

function verdictOf(...combined: readonly SingleIssue[]): string {
  const body = chatBody(Object.assign({}, ...combined.map((issue) => issue.fields)));
  const policy = Object.assign({}, ...combined.map((issue) => issue.policy ?? {}));
  return verdict(validate(body, policy, quarterCounter));
}

const pairs = issues.flatMap((first, index) =>
  issues
    .slice(index + 1)
    .map((second): [string, string, SingleIssue, SingleIssue] => [
      first.verdict,
      second.verdict,
      first,
      second,
    ]),
);

describe('one issue', () => {
  it.each(issues.map((issue): [string, SingleIssue] => [issue.verdict, issue]))('%s', (verdict, issue) => {
    expect(verdictOf(issue)).toBe(verdict);
  });
});

describe('of two issues, the earlier check is reported', () => {
  // The fields of the earlier issue win, so that it is always present.
  it.each(pairs)('%s before %s', (verdict, _later, first, second) => {
    expect(verdictOf(second, first)).toBe(verdict);
  });
});

it('reports all issues in order when each is fixed in turn', () => {
  const verdicts: string[] = [];
  for (let fixed = 0; fixed < issues.length; fixed += 1) {
    verdicts.push(verdictOf(...issues.slice(fixed).reverse()));
  }
  expect(verdicts).toEqual(issues.map((issue) => issue.verdict));
});
