import fc from 'fast-check';
import { errorCodes, isRefusal } from '@gateway/errors';
import { fuzzRuns, unicodeText } from '@gateway/test-support';
import type { JsonObject, JsonValue } from '../json/json-value';
import { parseJsonBody } from '../json/parse-json-body';
import { chatBody, validate } from '../testing/chat-fixtures';
import { dataUri, png } from '../testing/image-fixtures';
import { chatFields } from './schema/fields';

const RUNS = fuzzRuns();

const anyText = fc.oneof(
  unicodeText({ maxLength: 20 }),
  fc.constantFrom('<|endoftext|>', '\ud800', 'https://a/b', 'data:image/png;base64,AAAA', '__proto__'),
);
const anyJson = fc.jsonValue({ maxDepth: 4 }) as fc.Arbitrary<JsonValue>;

/** Weight of invalid values: 0 for bodies that are mostly valid. */
type Junk = 0 | 1;

const partOf = (junk: Junk) =>
  fc.oneof(
    { weight: 4, arbitrary: fc.record({ type: fc.constant('text'), text: anyText }) },
    {
      weight: 2,
      arbitrary: fc.record({
        type: fc.constant('image_url'),
        image_url: fc.record({
          url: fc.oneof(fc.constant(dataUri('image/png', png(64, 64))), ...(junk ? [anyText] : [])),
        }),
      }),
    },
    { weight: junk, arbitrary: anyJson },
  );

const call = fc.record({
  id: fc.constant('call_1'),
  type: fc.constant('function'),
  function: fc.record({ name: fc.constant('f'), arguments: anyText }),
});

const messageOf = (junk: Junk) =>
  fc.oneof(
    {
      weight: 8,
      arbitrary: fc.record(
        {
          role: fc.constantFrom('system', 'developer', 'user', 'assistant', 'tool'),
          content: fc.oneof(
            anyText,
            fc.array(partOf(junk), { minLength: 1 - junk, maxLength: 3 }),
            ...(junk ? [fc.constant(null)] : []),
          ),
          name: fc.oneof(anyText, fc.constant(null)),
          tool_call_id: fc.constant('call_1'),
          tool_calls: fc.array(call, { maxLength: 2 }),
          reasoning_content: anyText,
        },
        { requiredKeys: ['role', 'content'] },
      ),
    },
    { weight: junk, arbitrary: anyJson },
  );

const likelyValues: Readonly<Record<string, readonly JsonValue[]>> = {
  max_tokens: [1, 100, 0, 1e9],
  max_completion_tokens: [1, 100],
  n: [1, 2, 1.5],
  stream: [true, false],
  stream_options: [{ include_usage: true }],
  tools: [[], [{ type: 'function', function: { name: 'f', parameters: {} } }]],
  tool_choice: ['auto', 'none', 'required', { type: 'function', function: { name: 'f' } }],
  response_format: [{ type: 'text' }, { type: 'json_object' }],
  reasoning_effort: ['low', 'none'],
  temperature: [0, 1, 3],
  stop: ['x', ['x', 'y']],
  seed: [1, -1],
  logprobs: [true, false],
  top_logprobs: [0, 5],
  logit_bias: [{}, { '1': 1 }],
  user: ['ann'],
  metadata: [{ a: 'b' }],
};

const optionalFieldsOf = (junk: Junk) =>
  Object.fromEntries(
    chatFields
      .filter(({ name }) => name !== 'model' && name !== 'messages')
      .map(({ name, disposition }): [string, fc.Arbitrary<JsonValue | undefined>] => {
        const usual = likelyValues[name] ?? [null];
        return [
          name,
          fc.oneof(
            { weight: 30, arbitrary: fc.constant(undefined) },
            { weight: 6, arbitrary: fc.constantFrom(...(disposition === 'reject' ? [null] : usual)) },
            { weight: junk, arbitrary: anyJson },
          ),
        ];
      }),
  );

const bodyOf = (junk: Junk): fc.Arbitrary<JsonObject> =>
  fc
    .record({
      model: fc.oneof(
        { weight: 8, arbitrary: fc.constantFrom('acme/able', 'acme/plain', 'acme/extra') },
        { weight: junk, arbitrary: fc.constantFrom('acme/disabled', 'acme/none', '', null) },
      ),
      messages: fc.oneof(
        { weight: 10, arbitrary: fc.array(messageOf(junk), { minLength: 1, maxLength: 4 }) },
        { weight: junk, arbitrary: anyJson },
      ),
      ...optionalFieldsOf(junk),
    })
    // Through JSON, like every received body.
    .map((fields) => JSON.parse(JSON.stringify(fields)) as JsonObject);

const body = bodyOf(1);

it('returns an error of the table for any object, and never throws', () => {
  fc.assert(
    fc.property(fc.oneof(body, fc.dictionary(fc.string(), anyJson)), (given) => {
      const result = validate(given as JsonObject);
      if (isRefusal(result)) expect(errorCodes).toContain(result.code);
      else expect(result.maxOutputTokens).toBeGreaterThan(0);
    }),
    RUNS,
  );
});

it('returns a result for any bytes', () => {
  fc.assert(
    fc.property(
      fc.oneof(
        fc.uint8Array(),
        fc.json().map((text) => Buffer.from(text)),
      ),
      (bytes) => {
        const result = parseJsonBody(bytes);
        if (isRefusal(result)) expect(['invalid_json', 'invalid_request']).toContain(result.code);
      },
    ),
    RUNS,
  );
});

it('is deterministic and does not modify the body', () => {
  fc.assert(
    fc.property(body, (given) => {
      const before = JSON.stringify(given);
      const first = validate(given);
      expect(JSON.stringify(given)).toBe(before);
      expect(validate(JSON.parse(before) as JsonObject)).toEqual(first);
    }),
    RUNS,
  );
});

it('forwards a body that is itself valid and is forwarded unchanged', () => {
  let acceptedRuns = 0;
  fc.assert(
    fc.property(bodyOf(0), (given) => {
      const result = validate(given, { multipleCompletions: true });
      if (isRefusal(result)) return;
      acceptedRuns += 1;
      const again = validate(
        { model: result.model.id, ...(JSON.parse(result.bodyJson.toString()) as JsonObject) },
        { multipleCompletions: true },
      );
      expect(isRefusal(again) ? again : again.bodyJson.toString()).toEqual(result.bodyJson.toString());
      expect(isRefusal(again) ? again : again.estimatedInputTokens).toEqual(result.estimatedInputTokens);
    }),
    RUNS,
  );
  // Ensures that the property is tested with enough valid bodies.
  expect(acceptedRuns).toBeGreaterThan(200);
});

it('accepts any single field or refuses it with its own name', () => {
  fc.assert(
    fc.property(fc.constantFrom(...chatFields.map(({ name }) => name)), anyJson, (name, value) => {
      const result = validate(chatBody({ [name]: value }), { multipleCompletions: true });
      if (isRefusal(result) && result.code !== 'context_length_exceeded') {
        expect(result.param?.startsWith(name)).toBe(true);
      }
    }),
    RUNS,
  );
});
