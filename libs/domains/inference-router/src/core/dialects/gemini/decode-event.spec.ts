import { noHeader } from '../../../testing/assemble';
import fc from 'fast-check';
import { asObject, type JsonObject } from '../../completion/json';
import { UpstreamFailure } from '../../failure/upstream-failure';
import type { ChoiceDelta, DecodedEvent } from '../dialect';
import { gemini } from './index';

const candidate = (parts: readonly object[], fields: object = {}) => ({
  candidates: [{ content: { role: 'model', parts }, ...fields }],
});

function decode(events: readonly object[], n = 1): DecodedEvent[] {
  const decoder = gemini.createDecoder(n);
  return events.map((event) => decoder.decode(JSON.stringify(event)));
}

const deltasOf = (events: readonly object[], n = 1): ChoiceDelta[] =>
  decode(events, n).flatMap(({ choices }) => choices);
const finishOf = (reason: string, parts: readonly object[] = [{ text: 'a' }]) =>
  decode([candidate(parts, { finishReason: reason })])[0];

describe('the parts of an event', () => {
  it('are text, and thoughts apart from it', () => {
    const [first, second] = deltasOf([
      candidate([{ text: 'think', thought: true }, { text: 'a' }]),
      candidate([{ text: 'b' }, { text: 'c' }], { finishReason: 'STOP' }),
    ]);
    expect(first).toMatchObject({ index: 0, content: 'a', reasoning: 'think', finishReason: undefined });
    expect(second).toMatchObject({ content: 'bc', reasoning: null, finishReason: 'stop' });
    expect(first).not.toHaveProperty('reasoningDetails');
  });

  it('record which characters a signature covers, also over several events', () => {
    const details = deltasOf([
      candidate([{ text: 'one ' }]),
      candidate([{ text: 'two', thoughtSignature: 'A' }]),
      candidate([{ text: '', thoughtSignature: 'B' }], { finishReason: 'STOP' }),
      candidate([{ thoughtSignature: 'C' }]),
    ]).flatMap(({ reasoningDetails }) => reasoningDetails ?? []);
    expect(details).toEqual([
      { type: 'reasoning.encrypted', index: 0, data: '4.3.A' },
      { type: 'reasoning.encrypted', index: 1, data: '7.0.B' },
      { type: 'reasoning.encrypted', index: 2, data: '7.0.C' },
    ]);
  });

  it('keep the signature of a thought with its text', () => {
    expect(deltasOf([candidate([{ text: 'hm', thought: true, thoughtSignature: 'S' }])])[0]).toMatchObject({
      reasoning: 'hm',
      reasoningDetails: [{ type: 'reasoning.text', index: 0, text: 'hm', signature: 'S' }],
    });
  });

  it('are skipped when they only add media or code', () => {
    expect(
      deltasOf([
        candidate([{ inlineData: { mimeType: 'image/png', data: 'QQ==' } }, { executableCode: {} }]),
      ]),
    ).toEqual([
      {
        index: 0,
        content: null,
        refusal: null,
        reasoning: null,
        toolCalls: [],
        logprobs: null,
        finishReason: undefined,
      },
    ]);
  });

  it('return to Gemini as they arrived', async () => {
    const parts = [
      { text: 'hm', thought: true, thoughtSignature: 'Uw==' },
      { text: 'Grüße 🎉 ' },
      { text: 'two', thoughtSignature: 'VA==' },
      { functionCall: { name: 'f', args: { a: [1, null] } }, thoughtSignature: 'VQ==' },
      { functionCall: { name: 'g', args: {} } },
    ];
    const { choices } = gemini.readResponse(candidate(parts, { finishReason: 'STOP' }), 1);
    const [choice] = choices;
    const assistant = {
      role: 'assistant',
      content: choice?.content,
      reasoning_details: choice?.reasoningDetails,
      tool_calls: choice?.toolCalls.map((call, index) => ({
        id: `c${index}`,
        type: 'function',
        function: { name: call.name, arguments: call.arguments },
        extra_content: call.extraContent,
      })),
    };
    const body = Buffer.from(JSON.stringify({ messages: [{ role: 'user', content: 'x' }, assistant] }));
    const call = {
      providerModel: 'm',
      stream: false,
      maxOutputTokens: 1,
      n: 1,
      exactSeed: undefined,
      signer: 'a',
      ownsUntagged: true,
    };
    const options = {
      host: undefined,
      maxTokensParameter: 'max_tokens',
      developerAsSystem: true,
      forwardReasoningContent: false,
      drops: [],
      reasoningBudgets: undefined,
    } as const;
    const bytes = await gemini.encodeRequest(body, { ...call, options }, () => Promise.resolve());
    const request = JSON.parse(Buffer.from(bytes).toString()) as { contents: { parts: unknown }[] };
    expect(request.contents[1]?.parts).toEqual(parts);
  });
});

describe('function calls', () => {
  it('are numbered per completion, and leave a missing id to the router', () => {
    const calls = deltasOf([
      candidate([{ functionCall: { name: 'f', args: { a: 1 } }, thoughtSignature: 'S' }]),
      candidate([{ functionCall: { id: 'given', name: 'g' } }], { finishReason: 'STOP' }),
    ]);
    expect(calls.flatMap(({ toolCalls }) => toolCalls)).toEqual([
      {
        index: 0,
        id: undefined,
        name: 'f',
        arguments: '{"a":1}',
        extraContent: { google: { thought_signature: 'S' } },
      },
      { index: 1, id: 'given', name: 'g', arguments: '{}' },
    ]);
    expect(calls.at(-1)?.finishReason).toBe('tool_calls');
  });

  it('finish with tool_calls when STOP arrives in a later event', () => {
    const deltas = deltasOf([
      candidate([{ functionCall: { name: 'f' } }]),
      candidate([{ text: '' }], { finishReason: 'STOP' }),
    ]);
    expect(deltas.at(-1)?.finishReason).toBe('tool_calls');
    expect(finishOf('MAX_TOKENS', [{ functionCall: { name: 'f' } }])?.choices[0]?.finishReason).toBe(
      'length',
    );
  });

  const part = (jsonPath: string, value: object) => ({ jsonPath, ...value });
  const streamed = (...events: object[]) =>
    deltasOf(events.map((functionCall) => candidate([{ functionCall }])))
      .flatMap(({ toolCalls }) => toolCalls)
      .map(({ index, name, arguments: text }) => ({ index, name, text }));

  it('are assembled when their arguments are streamed', () => {
    expect(
      streamed(
        { name: 'f', willContinue: true },
        { partialArgs: [part('$.a.b[0].c', { stringValue: 'x', willContinue: true })], willContinue: true },
        { partialArgs: [part('$.a.b[0].c', { stringValue: 'y' })], willContinue: true },
        {
          partialArgs: [
            part("$['a']['k\\'1']", { numberValue: 0.5 }),
            part('$.a.b[1]', { boolValue: false }),
            part('$.a.n', { nullValue: 'NULL_VALUE' }),
            part('$.__proto__', { stringValue: 'plain' }),
          ],
          willContinue: true,
        },
        {},
        { name: 'g', args: { z: 1 } },
      ),
    ).toEqual([
      { index: 0, name: 'f', text: '' },
      {
        index: 0,
        name: undefined,
        text: '{"a":{"b":[{"c":"xy"},false],"k\'1":0.5,"n":null},"__proto__":"plain"}',
      },
      { index: 1, name: 'g', text: '{"z":1}' },
    ]);
  });

  it('end with the next call, or with the completion', () => {
    const events = [
      candidate([{ functionCall: { name: 'f', willContinue: true } }]),
      candidate([{ functionCall: { name: 'g', willContinue: true } }]),
      candidate([], { finishReason: 'STOP' }),
    ];
    const calls = deltasOf(events).flatMap(({ toolCalls }) => toolCalls);
    expect(calls.map(({ index, arguments: text }) => `${index}${text}`)).toEqual(['0', '0{}', '1', '1{}']);
  });

  it.each([
    [{ partialArgs: [] }],
    [{ name: 'f', partialArgs: [part('a', { numberValue: 1 })], willContinue: true }],
    [{ name: 'f', partialArgs: [part('$', { numberValue: 1 })], willContinue: true }],
    [{ name: 'f', partialArgs: [part('$.a[999999]', { numberValue: 1 })], willContinue: true }],
    [{ name: 'f', partialArgs: [part('$.a[*]', { numberValue: 1 })], willContinue: true }],
    [{ name: 'f', partialArgs: [part(`$${'.a'.repeat(65)}`, { numberValue: 1 })], willContinue: true }],
    [
      {
        name: 'f',
        partialArgs: [part('$.a', { numberValue: 1 }), part('$.a.b', { numberValue: 1 })],
        willContinue: true,
      },
    ],
    [
      {
        name: 'f',
        partialArgs: [part('$.a[0]', { numberValue: 1 }), part('$.a.b', { numberValue: 1 })],
        willContinue: true,
      },
    ],
    [{ name: 'f', partialArgs: [part('$.a', {})], willContinue: true }],
  ])('of a wrong form fail: %j', (functionCall) => {
    expect(() => streamed(functionCall)).toThrow(UpstreamFailure);
  });
});

describe('finish reasons', () => {
  it.each([
    ['STOP', 'stop'],
    ['MAX_TOKENS', 'length'],
    ['CONTINUATION', 'length'],
    ...[
      'SAFETY',
      'RECITATION',
      'LANGUAGE',
      'BLOCKLIST',
      'PROHIBITED_CONTENT',
      'SPII',
      'MODEL_ARMOR',
      'IMAGE_SAFETY',
      'IMAGE_PROHIBITED_CONTENT',
      'IMAGE_RECITATION',
    ].map((reason): [string, string] => [reason, 'content_filter']),
    ['FINISH_REASON_UNSPECIFIED', undefined],
  ] as const)('%s is %s', (reason, finish) => {
    const event = finishOf(reason);
    expect(event?.error).toBeUndefined();
    expect(event?.choices[0]?.finishReason).toBe(finish);
  });

  it.each([
    'OTHER',
    'MALFORMED_FUNCTION_CALL',
    'UNEXPECTED_TOOL_CALL',
    'TOO_MANY_TOOL_CALLS',
    'MALFORMED_RESPONSE',
    'NO_IMAGE',
    'IMAGE_OTHER',
    'A_REASON_OF_THE_FUTURE',
    'constructor',
  ])('%s is a failure', (reason) => {
    const error = finishOf(reason)?.error;
    expect(error).toMatchObject({ code: reason, message: `finish reason ${reason}` });
    expect(error && gemini.kindOfError(error, undefined, 'm')).toBe('failed');
  });

  it('MISSING_THOUGHT_SIGNATURE rejects the request, with its message', () => {
    const event = decode([
      candidate([], { finishReason: 'MISSING_THOUGHT_SIGNATURE', finishMessage: 'why' }),
    ])[0];
    expect(event?.error?.message).toBe('why');
    expect(event?.error && gemini.kindOfError(event.error, undefined, 'm')).toBe('rejected');
  });

  it('keep the usage of a failed event', () => {
    const [event] = decode([
      { ...candidate([], { finishReason: 'OTHER' }), usageMetadata: { promptTokenCount: 5 } },
    ]);
    expect(event).toMatchObject({ choices: [], error: { code: 'OTHER' }, usage: { promptTokens: 5 } });
  });
});

describe('a response', () => {
  it('of a blocked prompt finishes every completion with content_filter', () => {
    const blocked = {
      promptFeedback: { blockReason: 'PROHIBITED_CONTENT' },
      usageMetadata: { promptTokenCount: 4 },
    };
    const { choices, usage } = gemini.readResponse(blocked, 2);
    expect(choices).toMatchObject([
      { index: 0, content: null, finishReason: 'content_filter' },
      { index: 1, content: null, finishReason: 'content_filter' },
    ]);
    expect(usage).toMatchObject({ promptTokens: 4, completionTokens: 0 });
    expect(decode([blocked])[0]?.choices).toHaveLength(1);
  });

  it('without a candidate has no completion', () => {
    expect(gemini.readResponse({}, 1).choices).toEqual([]);
    expect(gemini.readResponse({ candidates: [], promptFeedback: { safetyRatings: [] } }, 1).choices).toEqual(
      [],
    );
  });

  it('has its candidates by index, and no more than requested', () => {
    const two = {
      candidates: [
        { content: { parts: [{ text: 'a' }] }, finishReason: 'STOP' },
        { content: { parts: [{ text: 'b' }] }, finishReason: 'STOP', index: 1 },
        { content: { parts: [{ text: 'c' }] }, finishReason: 'STOP', index: 2 },
      ],
    };
    expect(gemini.readResponse(two, 2).choices.map(({ index, content }) => [index, content])).toEqual([
      [0, 'a'],
      [1, 'b'],
    ]);
  });

  it('has log probabilities in the form of OpenAI', () => {
    const logprobsResult = {
      chosenCandidates: [{ token: 'ü', logProbability: -0.5 }, { token: 'x' }],
      topCandidates: [{ candidates: [{ token: 'ü', logProbability: -0.5 }] }],
    };
    expect(deltasOf([candidate([{ text: 'üx' }], { logprobsResult })])[0]?.logprobs).toEqual({
      content: [
        {
          token: 'ü',
          logprob: -0.5,
          bytes: [195, 188],
          top_logprobs: [{ token: 'ü', logprob: -0.5, bytes: [195, 188] }],
        },
        { token: 'x', logprob: 0, bytes: [120], top_logprobs: [] },
      ],
      refusal: null,
    });
  });

  it('has no fingerprint: the model version would name the provider', () => {
    const [event] = decode([
      { ...candidate([{ text: 'a' }]), modelVersion: 'gemini-3-pro-001', responseId: 'r' },
    ]);
    expect(JSON.stringify(event)).not.toMatch(/gemini|modelVersion/);
  });
});

describe('errors within a stream', () => {
  it('are read, also within an array', () => {
    const error = { code: 503, message: 'The model is overloaded.', status: 'UNAVAILABLE' };
    for (const event of [{ error }, [{ error }]]) {
      const [decoded] = decode([event]);
      expect(decoded).toMatchObject({ choices: [], error: { type: 'UNAVAILABLE' } });
      expect(decoded?.error && gemini.kindOfError(decoded.error, undefined, 'm')).toBe('unavailable');
    }
  });
});

describe('an unreadable event', () => {
  it.each([
    '',
    'null',
    '1',
    '[]',
    '{"candidates":[',
    '{"candidates":[1]}',
    '{"candidates":[{"index":-1}]}',
    '{"candidates":[{"content":{"parts":[1]}}]}',
    '{"candidates":[{"content":{"parts":[{"text":1}]}}]}',
    '{"candidates":[{"content":{"parts":[{"functionCall":1}]}}]}',
    '{"candidates":[{"content":{"parts":[{"functionCall":{}}]}}]}',
  ])('fails: %s', (data) => {
    expect(() => gemini.createDecoder(1).decode(data)).toThrow(UpstreamFailure);
  });

  it('that is unknown adds nothing', () => {
    expect(decode([{ somethingNew: true }])).toEqual([{ choices: [] }]);
  });

  it('of any content ends as a delta or as a failure', () => {
    const names = [
      'candidates',
      'content',
      'parts',
      'text',
      'functionCall',
      'name',
      'partialArgs',
      'jsonPath',
      'index',
    ];
    const value = fc.letrec((tie) => ({
      any: fc.oneof(
        { depthSize: 'medium', withCrossShrink: true },
        fc.constantFrom(null, true, -1, 0, 1.5, '', 'STOP', '$.a[0]', '0.1.x'),
        fc.array(tie('any'), { maxLength: 3 }),
        fc.dictionary(
          fc.constantFrom(...names, 'finishReason', 'usageMetadata', 'error', 'thoughtSignature'),
          tie('any'),
          {
            maxKeys: 4,
          },
        ),
      ),
    })).any;
    fc.assert(
      fc.property(fc.array(value, { maxLength: 4 }), (events) => {
        const decoder = gemini.createDecoder(2);
        for (const event of events) {
          let decoded: DecodedEvent;
          try {
            decoded = decoder.decode(JSON.stringify(event));
          } catch (error) {
            if (error instanceof UpstreamFailure) return;
            throw error;
          }
          for (const { index, content } of decoded.choices) {
            expect(index).toBeLessThan(2);
            expect(content === null || typeof content === 'string').toBe(true);
          }
          gemini.readError(event, noHeader);
        }
      }),
    );
  });
});

describe('usage', () => {
  const usageOf = (usageMetadata: JsonObject) => decode([{ ...candidate([]), usageMetadata }])[0]?.usage;

  it('counts thoughts as output', () => {
    expect(
      usageOf({ promptTokenCount: 10, candidatesTokenCount: 3, thoughtsTokenCount: 40, totalTokenCount: 53 }),
    ).toMatchObject({ promptTokens: 10, completionTokens: 43, reasoningTokens: 40, cachedTokens: 0 });
  });

  it('counts uncached images by modality, and the results of built-in tools as input', () => {
    expect(
      usageOf({
        promptTokenCount: 1_000,
        toolUsePromptTokenCount: 7,
        cachedContentTokenCount: 300,
        promptTokensDetails: [
          { modality: 'TEXT', tokenCount: 484 },
          { modality: 'IMAGE', tokenCount: 516 },
        ],
        cacheTokensDetails: [
          { modality: 'TEXT', tokenCount: 42 },
          { modality: 'IMAGE', tokenCount: 258 },
        ],
        candidatesTokenCount: 1,
      }),
    ).toEqual({
      promptTokens: 1_007,
      cachedTokens: 300,
      cacheWriteTokens: 0,
      cacheWrite1hTokens: 0,
      imageTokens: 258,
      completionTokens: 1,
      reasoningTokens: 0,
    });
  });

  it('is that of the last report, not their sum, and absent without counts', () => {
    const reports = decode([
      { ...candidate([{ text: 'a' }]), usageMetadata: { promptTokenCount: 5, candidatesTokenCount: 1 } },
      { ...candidate([{ text: 'b' }]), usageMetadata: { trafficType: 'ON_DEMAND' } },
      { ...candidate([{ text: 'c' }]), usageMetadata: { promptTokenCount: 5, candidatesTokenCount: 3 } },
    ]).map(({ usage }) => usage?.completionTokens);
    expect(reports).toEqual([1, undefined, 3]);
  });

  it.each([-1, 1.5, '7', null, 2 ** 60])('has no count for %j', (count) => {
    expect(usageOf({ promptTokenCount: count, candidatesTokenCount: count })).toMatchObject({
      promptTokens: undefined,
      completionTokens: undefined,
    });
  });
});

it('reads a whole response like a stream of one event', () => {
  const whole = {
    ...candidate([{ text: 'a' }], { finishReason: 'STOP' }),
    usageMetadata: { promptTokenCount: 1 },
  };
  expect(asObject(gemini.readResponse(whole, 1))).toEqual(decode([whole])[0]);
});
