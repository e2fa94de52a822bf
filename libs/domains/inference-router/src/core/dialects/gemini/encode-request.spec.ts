import { UpstreamFailure } from '../../failure/upstream-failure';
import type { EncodeCall, TargetOptions } from '../dialect';
import { gemini } from './index';

const OPTIONS: TargetOptions = {
  host: undefined,
  maxTokensParameter: 'max_tokens',
  developerAsSystem: true,
  forwardReasoningContent: false,
  drops: [],
  reasoningBudgets: undefined,
};
const CALL: EncodeCall = {
  providerModel: 'gemini-3-pro',
  stream: false,
  maxOutputTokens: 100,
  n: 1,
  exactSeed: undefined,
  signer: 'aaaaaaaaaaaa',
  ownsUntagged: true,
  options: OPTIONS,
};
const ASK = { role: 'user', content: 'hi' };
const TOOL = {
  type: 'function',
  function: { name: 'add', parameters: { type: 'object', title: 'T' }, strict: true },
};

/** A request without parameters other than these. */
async function encode(fields: object, call: Partial<EncodeCall> = {}) {
  const body = Buffer.from(JSON.stringify({ messages: [ASK], ...fields }));
  const bytes = await gemini.encodeRequest(body, { ...CALL, ...call }, () => Promise.resolve());
  return JSON.parse(Buffer.from(bytes).toString()) as {
    contents: { role: string; parts: Record<string, unknown>[] }[];
    generationConfig: Record<string, unknown>;
  } & Record<string, unknown>;
}

const contentsOf = async (messages: readonly object[]) => (await encode({ messages })).contents;

async function refusalOf(fields: object, call: Partial<EncodeCall> = {}) {
  const failure = await encode(fields, call).then(
    () => undefined,
    (error: unknown) => error,
  );
  if (!(failure instanceof UpstreamFailure)) throw new Error(`expected a refusal, got ${String(failure)}`);
  return { kind: failure.kind, param: failure.param, publicMessage: failure.publicMessage };
}

describe('the path', () => {
  const pathOf = (providerModel: string, stream: boolean, options = OPTIONS) =>
    gemini.path({ providerModel, stream, options });

  it('has the model and the method, and requests streams as server-sent events', () => {
    expect(pathOf('gemini-3-pro', false)).toBe('/v1beta/models/gemini-3-pro:generateContent');
    expect(pathOf('gemini-3-pro', true)).toBe('/v1beta/models/gemini-3-pro:streamGenerateContent?alt=sse');
  });

  it('has the publisher at Vertex AI', () => {
    const vertex: TargetOptions = { ...OPTIONS, host: 'vertex' };
    expect(pathOf('gemini-3-pro', false, vertex)).toBe(
      '/publishers/google/models/gemini-3-pro:generateContent',
    );
    expect(pathOf('endpoints/12', false, vertex)).toBe('/endpoints/12:generateContent');
  });

  it('keeps resource names, and escapes what is not part of one', () => {
    expect(pathOf('tunedModels/12@v1', false)).toBe('/v1beta/tunedModels/12@v1:generateContent');
    expect(pathOf('a b?c', false)).toBe('/v1beta/models/a%20b%3Fc:generateContent');
  });
});

describe('generationConfig', () => {
  it('has the output limit, and no field that was not sent', async () => {
    expect(await encode({})).toEqual({
      contents: [{ role: 'user', parts: [{ text: 'hi' }] }],
      generationConfig: { maxOutputTokens: 100 },
    });
  });

  it('has the sampling parameters under their names', async () => {
    const { generationConfig } = await encode({
      temperature: 0,
      top_p: 0.5,
      top_k: 3,
      frequency_penalty: 1,
      presence_penalty: -1,
      stop: 'END',
      seed: 7,
      logprobs: true,
      top_logprobs: 2,
    });
    expect(generationConfig).toEqual({
      maxOutputTokens: 100,
      temperature: 0,
      topP: 0.5,
      topK: 3,
      frequencyPenalty: 1,
      presencePenalty: -1,
      stopSequences: ['END'],
      seed: 7,
      responseLogprobs: true,
      logprobs: 2,
    });
    expect((await encode({ stop: ['a', 'b'] })).generationConfig['stopSequences']).toEqual(['a', 'b']);
  });

  it('reduces seeds to 32 bits', async () => {
    expect((await encode({ seed: 2 ** 32 + 5 })).generationConfig['seed']).toBe(5);
    expect((await encode({}, { exactSeed: 2n ** 63n - 1n })).generationConfig['seed']).toBe(-1);
  });

  it('requests several completions, unless they are streamed', async () => {
    expect((await encode({}, { n: 8 })).generationConfig['candidateCount']).toBe(8);
    expect(await refusalOf({}, { n: 9 })).toMatchObject({ kind: 'rejected', param: 'n' });
    expect(await refusalOf({}, { n: 2, stream: true })).toMatchObject({ kind: 'rejected', param: 'n' });
  });

  it('requests JSON, with its schema unchanged', async () => {
    const schema = {
      type: 'object',
      properties: { a: { $ref: '#/$defs/x' } },
      $defs: { x: { type: 'string' } },
    };
    const { generationConfig } = await encode({
      response_format: { type: 'json_schema', json_schema: { name: 'n', schema, strict: true } },
    });
    expect(generationConfig).toMatchObject({
      responseMimeType: 'application/json',
      responseJsonSchema: schema,
    });
    expect((await encode({ response_format: { type: 'json_object' } })).generationConfig).toEqual({
      maxOutputTokens: 100,
      responseMimeType: 'application/json',
    });
    expect((await encode({ response_format: { type: 'text' } })).generationConfig).toEqual({
      maxOutputTokens: 100,
    });
  });

  it.each([
    ['low', undefined, { includeThoughts: true, thinkingLevel: 'LOW' }],
    ['none', undefined, { thinkingBudget: 0 }],
    ['high', { high: 70 }, { includeThoughts: true, thinkingBudget: 70 }],
    ['high', { high: 999 }, { includeThoughts: true, thinkingBudget: 80 }],
    ['none', { high: 999 }, { thinkingBudget: 0 }],
  ] as const)('maps the effort %s with the budgets %j', async (effort, reasoningBudgets, thinkingConfig) => {
    const options = { ...OPTIONS, reasoningBudgets };
    const { generationConfig } = await encode({ reasoning_effort: effort }, { options });
    expect(generationConfig).toEqual({ maxOutputTokens: 100, thinkingConfig });
  });

  it('does not send the fields that the model refuses', async () => {
    const options = { ...OPTIONS, drops: ['temperature', 'logit_bias', 'reasoning_effort'] };
    const { generationConfig } = await encode(
      { temperature: 1, logit_bias: { 1: 2 }, reasoning_effort: 'low', top_p: 1 },
      { options },
    );
    expect(generationConfig).toEqual({ maxOutputTokens: 100, topP: 1 });
  });
});

describe('fields without an equivalent', () => {
  it('are dropped when they are hints', async () => {
    const hints = {
      parallel_tool_calls: false,
      verbosity: 'low',
      prediction: { type: 'content', content: 'x' },
      prompt_cache_key: 'k',
      prompt_cache_retention: '24h',
      prompt_cache_options: { mode: 'explicit' },
      user: 'u',
      safety_identifier: 's',
      metadata: { a: 'b' },
      store: true,
      service_tier: 'flex',
      modalities: ['text'],
    };
    expect(await encode(hints)).toEqual(await encode({}));
  });

  it('are refused when the result would be another', async () => {
    expect(await refusalOf({ logit_bias: { 1: 2 } })).toEqual({
      kind: 'rejected',
      param: 'logit_bias',
      publicMessage: "Invalid value for 'logit_bias': the model does not support it.",
    });
    expect(await refusalOf({ min_p: 0.1 })).toMatchObject({ param: 'min_p' });
    expect(await encode({ min_p: null })).toEqual(await encode({}));
  });
});

describe('tools', () => {
  it('are function declarations with a JSON schema', async () => {
    const plain = { type: 'function', function: { name: 'now', description: 'The time.' } };
    const request = await encode({ tools: [TOOL, plain] });
    expect(request['tools']).toEqual([
      {
        functionDeclarations: [
          { name: 'add', parametersJsonSchema: { type: 'object', title: 'T' } },
          { name: 'now', description: 'The time.' },
        ],
      },
    ]);
    expect(request).not.toHaveProperty('toolConfig');
  });

  it.each([
    ['auto', undefined],
    ['none', { mode: 'NONE' }],
    ['required', { mode: 'ANY' }],
    [
      { type: 'function', function: { name: 'add' } },
      { mode: 'ANY', allowedFunctionNames: ['add'] },
    ],
  ])('are chosen by %j', async (choice, functionCallingConfig) => {
    const request = await encode({ tools: [TOOL], tool_choice: choice });
    expect(request['toolConfig']).toEqual(functionCallingConfig && { functionCallingConfig });
  });

  it('of another kind are refused', async () => {
    expect(await refusalOf({ tools: [{ type: 'custom' }] })).toMatchObject({ param: 'tools[0].type' });
    expect(await refusalOf({ tools: [TOOL], tool_choice: { type: 'allowed_tools' } })).toMatchObject({
      param: 'tool_choice',
    });
  });
});

describe('messages', () => {
  it('have instructions apart, in their order', async () => {
    const request = await encode({
      messages: [
        { role: 'system', content: 'A' },
        ASK,
        { role: 'developer', content: [{ type: 'text', text: 'B' }] },
      ],
    });
    expect(request['systemInstruction']).toEqual({ parts: [{ text: 'A' }, { text: 'B' }] });
    expect(request.contents).toEqual([{ role: 'user', parts: [{ text: 'hi' }] }]);
  });

  it('never lack a content, nor a content its parts', async () => {
    const alone = await encode({ messages: [{ role: 'system', content: 'A' }] });
    expect(alone.contents).toEqual([{ role: 'user', parts: [{ text: 'A' }] }]);
    expect(alone).not.toHaveProperty('systemInstruction');
    const empty = [
      { role: 'user', content: '' },
      { role: 'assistant', content: '' },
      { role: 'user', content: [{ type: 'text', text: '' }] },
    ];
    await expect(contentsOf(empty)).rejects.toMatchObject({ kind: 'rejected', param: 'messages' });
    const text = (value: string) => ({ type: 'text', text: value });
    const refusal = { type: 'refusal', refusal: '' };
    expect(
      await contentsOf([
        ...empty,
        { role: 'user', content: [text(''), text('A'), text('')] },
        { role: 'assistant', content: [refusal, text('B')] },
      ]),
    ).toEqual([
      { role: 'user', parts: [{ text: 'A' }] },
      { role: 'model', parts: [{ text: 'B' }] },
    ]);
  });

  it('have images by their bytes or their address', async () => {
    const image = (url: string) => ({ type: 'image_url', image_url: { url, detail: 'low' } });
    const content = [
      { type: 'text', text: 'see', cache_control: { type: 'ephemeral' } },
      image('data:image/png;base64,QQ=='),
      image('https://a.example/b.png'),
    ];
    expect((await contentsOf([{ role: 'user', content }]))[0]?.parts).toEqual([
      { text: 'see' },
      { inlineData: { mimeType: 'image/png', data: 'QQ==' } },
      { fileData: { fileUri: 'https://a.example/b.png' } },
    ]);
  });

  it('of the model have text, refusals and calls, but no unsigned reasoning', async () => {
    const [, model] = await contentsOf([
      ASK,
      {
        role: 'assistant',
        content: [
          { type: 'text', text: 'a' },
          { type: 'refusal', refusal: 'b' },
        ],
        refusal: 'c',
        reasoning_content: 'hm',
        reasoning_details: [{ type: 'reasoning.text', index: 0, text: 'hm' }],
      },
      ASK,
    ]);
    expect(model).toEqual({ role: 'model', parts: [{ text: 'ab' }, { text: 'c' }] });
  });

  it('of an unknown content are refused', async () => {
    expect(
      await refusalOf({ messages: [{ role: 'user', content: [{ type: 'input_audio' }] }] }),
    ).toMatchObject({
      param: 'messages[0].content[0].type',
    });
  });
});

const call = (id: string, name = 'add', text = '{"a":1}', signature?: string) => ({
  id,
  type: 'function',
  function: { name, arguments: text },
  ...(signature === undefined ? {} : { extra_content: { google: { thought_signature: signature } } }),
});
const calls = (...toolCalls: object[]) => ({ role: 'assistant', content: null, tool_calls: toolCalls });
const result = (id: string, content: unknown) => ({ role: 'tool', tool_call_id: id, content });

describe('tool results', () => {
  it('have the name of their function, and the order of the calls', async () => {
    const contents = await contentsOf([
      ASK,
      calls(call('x', 'add'), call('y', 'now', '')),
      result('y', 'noon'),
      result('x', [{ type: 'text', text: '3' }]),
      { role: 'user', content: 'thanks' },
    ]);
    expect(contents.slice(2)).toEqual([
      {
        role: 'user',
        parts: [
          { functionResponse: { name: 'add', response: { output: '3' } } },
          { functionResponse: { name: 'now', response: { output: 'noon' } } },
        ],
      },
      { role: 'user', parts: [{ text: 'thanks' }] },
    ]);
    expect(contents[1]?.parts[1]).toEqual({ functionCall: { name: 'now', args: {} } });
  });

  it('of a failed call are an error', async () => {
    const failed = { ...result('x', 'no such number'), is_error: true };
    const contents = await contentsOf([ASK, calls(call('x', 'add')), failed]);
    expect(contents[2]?.parts).toEqual([
      { functionResponse: { name: 'add', response: { error: 'no such number' } } },
    ]);
  });

  it('of several steps stay with their step, also when ids repeat', async () => {
    const contents = await contentsOf([
      ASK,
      calls(call('x', 'add')),
      result('x', '1'),
      calls(call('x', 'now')),
      result('x', '2'),
    ]);
    expect(contents.map(({ role }) => role)).toEqual(['user', 'model', 'user', 'model', 'user']);
    expect(contents[2]?.parts).toEqual([{ functionResponse: { name: 'add', response: { output: '1' } } }]);
    expect(contents[4]?.parts).toEqual([{ functionResponse: { name: 'now', response: { output: '2' } } }]);
  });

  it('have their images after all results', async () => {
    const image = { type: 'image_url', image_url: { url: 'data:image/gif;base64,QQ==' } };
    const contents = await contentsOf([
      ASK,
      calls(call('x'), call('y')),
      result('x', [image]),
      result('y', 'ok'),
    ]);
    expect(contents[2]?.parts).toEqual([
      { functionResponse: { name: 'add', response: { output: '' } } },
      { functionResponse: { name: 'add', response: { output: 'ok' } } },
      { inlineData: { mimeType: 'image/gif', data: 'QQ==' } },
    ]);
  });

  it('without a call are refused', async () => {
    expect(await refusalOf({ messages: [ASK, result('x', '1')] })).toMatchObject({
      param: 'messages[1].tool_call_id',
    });
  });
});

describe('signatures of function calls', () => {
  const SKIP = 'skip_thought_signature_validator';
  const signaturesOf = async (messages: readonly object[]) =>
    (await contentsOf(messages))
      .flatMap(({ parts }) => parts)
      .filter((part) => 'functionCall' in part)
      .map((part) => part['thoughtSignature']);

  it('return to their call', async () => {
    expect(
      await signaturesOf([
        ASK,
        calls(call('x', 'add', '{}', 'SIG'), call('y')),
        result('x', '1'),
        result('y', '2'),
      ]),
    ).toEqual(['SIG', undefined]);
  });

  it('that a client dropped are replaced by the documented one, for the first call of each step of the turn', async () => {
    expect(
      await signaturesOf([
        ASK,
        calls(call('a')),
        result('a', '1'),
        ASK,
        calls(call('x'), call('y')),
        result('x', '1'),
        result('y', '2'),
        calls(call('z', 'add', '{}', 'SIG')),
        result('z', '3'),
        calls(call('v')),
        result('v', '4'),
      ]),
    ).toEqual([undefined, SKIP, undefined, 'SIG', SKIP]);
  });

  it('are not needed when another part of the message has one', async () => {
    const step = {
      ...calls(call('x')),
      content: 'hm',
      reasoning_details: [{ type: 'reasoning.encrypted', index: 0, data: '0.2.SIG' }],
    };
    const contents = await contentsOf([ASK, step, result('x', '1')]);
    expect(contents[1]?.parts).toEqual([
      { text: 'hm', thoughtSignature: 'SIG' },
      { functionCall: { name: 'add', args: { a: 1 } } },
    ]);
  });
});

describe('signatures of text and thoughts', () => {
  const partsOf = async (content: string, reasoning_details: readonly object[]) =>
    (await contentsOf([ASK, { role: 'assistant', content, reasoning_details }, ASK]))[1]?.parts;
  const signed = (data: string) => ({ type: 'reasoning.encrypted', index: 0, data });

  it('return to their characters', async () => {
    expect(await partsOf('one two three', [signed('8.5.B=='), signed('0.3.A')])).toEqual([
      { text: 'one', thoughtSignature: 'A' },
      { text: ' two ' },
      { text: 'three', thoughtSignature: 'B==' },
    ]);
    expect(await partsOf('one', [signed('3.0.END')])).toEqual([
      { text: 'one' },
      { text: '', thoughtSignature: 'END' },
    ]);
  });

  it('stay within a text that the client changed', async () => {
    expect(await partsOf('on', [signed('1.9.A'), signed('50.9.B')])).toEqual([
      { text: 'o' },
      { text: 'n', thoughtSignature: 'A' },
      { text: '', thoughtSignature: 'B' },
    ]);
    expect(await partsOf('one', [signed('of another provider'), signed('1.1.')])).toEqual([{ text: 'one' }]);
  });

  it('of thoughts precede the text, joined by index', async () => {
    expect(
      await partsOf('yes', [
        { type: 'reasoning.text', index: 0, text: 'h' },
        { type: 'reasoning.text', index: 0, text: 'm', signature: 'SIG' },
        { type: 'reasoning.text', index: 1, text: 'unsigned' },
      ]),
    ).toEqual([{ text: 'hm', thought: true, thoughtSignature: 'SIG' }, { text: 'yes' }]);
  });
});
