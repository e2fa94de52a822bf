import { errorCodes, isRefusal } from '@gateway/errors';
import { type CallerPolicy, endpoints, type JsonObject } from '@gateway/public-api';
import { CHAT_REQUEST, judged, PLAIN } from '../examples/example-data';
import { chatCheckOrder } from './check-order';

const documented = chatCheckOrder.flatMap(({ codes }) => codes);

it('has every code of a chat completion in the order of its endpoint', () => {
  const ofEndpoint = endpoints.find(({ name }) => name === 'chat_completions')?.errors ?? [];
  let from = 0;
  const outOfOrder = ofEndpoint.filter((code) => {
    const at = documented.indexOf(code, from);
    if (at >= 0) from = at + 1;
    return at < 0;
  });
  expect(outOfOrder).toEqual([]);
});

it('has every code of the error table but that of another endpoint', () => {
  expect(errorCodes.filter((code) => !documented.includes(code))).toEqual(['generation_not_found']);
});

interface Problem {
  readonly fields: JsonObject;
  readonly policy?: Partial<CallerPolicy>;
}

const part = (url: string): JsonObject => ({
  messages: [{ role: 'user', content: [{ type: 'image_url', image_url: { url } }] }],
});
const GIF = 'data:image/gif;base64,R0lGODlhAQABAIAAAAAAAP///yH5BAEAAAAALAAAAAABAAEAAAIBRAA7';

/** A problem for each check of the parsed body, in the documented order. */
const problems: readonly Problem[] = [
  { fields: { model: null } },
  { fields: { messages: [] } },
  { fields: { foo: 1 } },
  { fields: { temperature: 'hot' } },
  { fields: part('https://example.com/a.png') },
  { fields: { response_format: { type: 'json_object' }, stream: true } },
  { fields: { n: 2 } },
  { fields: { max_tokens: 9_000 }, policy: { maxOutputTokensCap: 100 } },
  { fields: { model: 'acme/none' } },
  { fields: { model: PLAIN }, policy: { allowedModels: ['acme/other'] } },
  { fields: { model: PLAIN, tools: [{ type: 'function', function: { name: 'f' } }] } },
  { fields: { model: PLAIN, ...part(GIF) } },
  { fields: { model: PLAIN, response_format: { type: 'json_object' } } },
  { fields: { model: PLAIN, reasoning_effort: 'low' } },
  { fields: { model: PLAIN, logprobs: true } },
  { fields: { max_tokens: 10_000_000 } },
];

it('has the checks of the body in the order of the validator', () => {
  const found = problems.map((_, first) => {
    const remaining = problems.slice(first).reverse();
    const fields = Object.assign({}, CHAT_REQUEST, ...remaining.map((each) => each.fields)) as JsonObject;
    const policy = Object.assign({}, ...remaining.map((each) => each.policy ?? {})) as Partial<CallerPolicy>;
    const verdict = judged(fields, policy);
    return isRefusal(verdict) ? verdict.code : 'ok';
  });
  const start = documented.indexOf('missing_model');
  expect(found).toEqual(documented.slice(start, documented.indexOf('context_length_exceeded') + 1));
});
