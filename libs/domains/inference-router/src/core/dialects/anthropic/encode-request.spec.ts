import type { MessageCreateParamsBase } from '@anthropic-ai/sdk/resources/messages/messages';
import type { EncodeCall, TargetOptions } from '../dialect';
import { anthropic } from '.';

const OPTIONS: TargetOptions = {
  maxTokensParameter: 'max_tokens',
  developerAsSystem: false,
  forwardReasoningContent: false,
  drops: [],
  reasoningBudgets: undefined,
  host: undefined,
};
const QUESTION = { role: 'user', content: 'Hi' };
const QUESTION_TURN = [{ role: 'user', content: [{ type: 'text', text: 'Hi' }] }] as const;

function callWith(call: Partial<EncodeCall> = {}, options: Partial<TargetOptions> = {}): EncodeCall {
  return {
    providerModel: 'claude-x',
    stream: false,
    maxOutputTokens: 4_096,
    n: 1,
    exactSeed: undefined,
    signer: 'aaaaaaaaaaaa',
    ownsUntagged: true,
    ...call,
    options: { ...OPTIONS, ...options },
  };
}

async function encode(body: object, call = callWith()): Promise<MessageCreateParamsBase> {
  const bytes = await anthropic.encodeRequest(
    Buffer.from(JSON.stringify({ messages: [QUESTION], ...body })),
    call,
    async () => undefined,
  );
  return JSON.parse(Buffer.from(bytes).toString('utf8')) as MessageCreateParamsBase;
}

/** What the request has beyond the model, the limit and the question. */
async function extrasOf(body: object, call = callWith()): Promise<Partial<MessageCreateParamsBase>> {
  const { model: _model, max_tokens: _limit, messages: _messages, ...rest } = await encode(body, call);
  return rest;
}

const TOOL = { type: 'function', function: { name: 'find', parameters: { type: 'object', properties: {} } } };
const BUDGETS = { reasoningBudgets: { low: 1_024, high: 16_000, minimal: 0 } } as const;

it('sends the model, the output limit and the messages', async () => {
  const expected: MessageCreateParamsBase = {
    model: 'claude-x',
    max_tokens: 4_096,
    messages: [...QUESTION_TURN],
  } as unknown as MessageCreateParamsBase;
  expect(await encode({})).toEqual(expected);
  expect(await encode({}, callWith({ stream: true }))).toEqual({ ...expected, stream: true });
});

describe('at each host', () => {
  const at = (host: 'vertex' | 'bedrock' | undefined, stream = false) =>
    callWith({ providerModel: 'claude-x@20260101', stream }, host === undefined ? {} : { host });

  it('has the path, headers and version of the API that the host requires', async () => {
    const call = at(undefined);
    expect(anthropic.path(call)).toBe('/v1/messages');
    expect(anthropic.headers?.(call.options)).toEqual({ 'anthropic-version': '2023-06-01' });
    expect(await encode({}, call)).not.toHaveProperty('anthropic_version');
  });

  it('has the model in the path of Vertex AI', async () => {
    expect(anthropic.path(at('vertex'))).toBe('/publishers/anthropic/models/claude-x@20260101:rawPredict');
    expect(anthropic.path(at('vertex', true))).toMatch(/@20260101:streamRawPredict$/);
    expect(anthropic.headers?.(at('vertex').options)).toEqual({});
    const request = await encode({}, at('vertex', true));
    expect(request).toMatchObject({ anthropic_version: 'vertex-2023-10-16', stream: true });
    expect(request).not.toHaveProperty('model');
  });

  it('has the model in the body of Bedrock', async () => {
    expect(anthropic.path(at('bedrock'))).toBe('/v1/messages');
    expect(anthropic.headers?.(at('bedrock').options)).toEqual({});
    expect(await encode({}, at('bedrock'))).toMatchObject({
      anthropic_version: 'bedrock-2023-05-31',
      model: 'claude-x@20260101',
    });
  });
});

describe('of the sampling fields', () => {
  it('sends those that the API has', async () => {
    expect(await extrasOf({ temperature: 0.5, top_k: 5, stop: 'END' })).toEqual({
      temperature: 0.5,
      top_k: 5,
      stop_sequences: ['END'],
    });
    expect(await extrasOf({ stop: ['a', 'b'] })).toEqual({ stop_sequences: ['a', 'b'] });
  });

  it('drops hints and fields without effect', async () => {
    const hints = {
      seed: 1,
      frequency_penalty: 0,
      presence_penalty: 0,
      logprobs: false,
      top_logprobs: 0,
      logit_bias: {},
      verbosity: 'low',
      prompt_cache_key: 'k',
      prompt_cache_retention: '24h',
      prompt_cache_options: { mode: 'explicit' },
      prediction: { type: 'content', content: 'x' },
      user: 'u',
      metadata: {},
      store: true,
      service_tier: 'auto',
      modalities: ['text'],
      response_format: { type: 'text' },
      stop: [],
      parallel_tool_calls: false,
      tool_choice: 'auto',
    };
    expect(await extrasOf(hints, callWith({ exactSeed: 2n ** 60n }))).toEqual({});
  });

  it.each([
    ['n', {}, callWith({ n: 2 })],
    ['logprobs', { logprobs: true }, callWith()],
    ['logit_bias', { logit_bias: { 5: 1 } }, callWith()],
    ['frequency_penalty', { frequency_penalty: 0.1 }, callWith()],
    ['presence_penalty', { presence_penalty: -1 }, callWith()],
    ['temperature', { temperature: 1.1 }, callWith()],
    ['response_format', { response_format: { type: 'json_object' } }, callWith()],
    ['response_format', { response_format: { type: 'json_schema', json_schema: { name: 'x' } } }, callWith()],
    ['max_tokens', { max_tokens: 1_000_000 }, callWith()],
  ])('refuses %s, which would change the result if it were ignored: %j', async (param, body, call) => {
    await expect(encode(body, call)).rejects.toMatchObject({
      kind: 'rejected',
      param,
      publicMessage: expect.stringMatching(/\.$/),
    });
  });

  it('drops the fields that the model refuses', async () => {
    const drops = callWith({}, { drops: ['temperature', 'strict', 'reasoning_effort'] });
    const tool = { ...TOOL, function: { ...TOOL.function, strict: true } };
    const request = await extrasOf(
      { temperature: 2, top_p: 0.5, reasoning_effort: 'high', tools: [tool] },
      drops,
    );
    expect(request).toEqual({
      top_p: 0.5,
      tools: [{ name: 'find', input_schema: { type: 'object', properties: {} } }],
    });
  });

  it("sends the model's extra parameters unchanged", async () => {
    expect(await extrasOf({ inference_geo: 'us' })).toEqual({ inference_geo: 'us' });
  });
});

it('sends a JSON schema as the output format', async () => {
  const schema = { type: 'object', properties: { a: { type: 'string' } }, additionalProperties: false };
  const format = { type: 'json_schema', json_schema: { name: 'n', strict: true, schema } };
  expect(await extrasOf({ response_format: format, reasoning_effort: 'low' })).toEqual({
    output_config: { effort: 'low', format: { type: 'json_schema', schema } },
    thinking: { type: 'adaptive', display: 'summarized' },
  });
});

describe('of tools', () => {
  it('sends name, description, schema and strictness', async () => {
    const tools = [
      {
        type: 'function',
        function: { name: 'a', description: 'd', strict: true, parameters: { required: [] } },
      },
      { type: 'function', function: { name: 'b' } },
    ];
    expect((await encode({ tools })).tools).toEqual([
      {
        name: 'a',
        description: 'd',
        strict: true,
        input_schema: { type: 'object', required: [], properties: {}, additionalProperties: false },
      },
      { name: 'b', input_schema: { type: 'object', properties: {} } },
    ]);
  });

  it.each([
    [{ tool_choice: 'auto' }, { type: 'auto' }],
    [{ tool_choice: 'required' }, { type: 'any' }],
    [{ tool_choice: 'none', parallel_tool_calls: false }, { type: 'none' }],
    [
      { tool_choice: { type: 'function', function: { name: 'find' } }, parallel_tool_calls: false },
      { type: 'tool', name: 'find', disable_parallel_tool_use: true },
    ],
    [
      { tool_choice: 'required', parallel_tool_calls: false },
      { type: 'any', disable_parallel_tool_use: true },
    ],
    [{ parallel_tool_calls: false }, { type: 'auto', disable_parallel_tool_use: true }],
    [{ parallel_tool_calls: true }, undefined],
  ])('sends the choice %j as %j', async (fields, choice) => {
    expect((await encode({ tools: [TOOL], ...fields })).tool_choice).toEqual(choice);
  });

  it('defines the tools of earlier calls when the request has none', async () => {
    const call = { id: 'c1', type: 'function', function: { name: 'find', arguments: '{}' } };
    const messages = [
      QUESTION,
      { role: 'assistant', tool_calls: [call, { ...call, id: 'c2' }] },
      { role: 'tool', tool_call_id: 'c1', content: 'x' },
      { role: 'tool', tool_call_id: 'c2', content: 'y' },
    ];
    expect(await extrasOf({ messages })).toEqual({
      tools: [{ name: 'find', input_schema: { type: 'object', properties: {} } }],
      tool_choice: { type: 'none' },
    });
  });
});

describe('reasoning effort', () => {
  it.each([
    ['high', { thinking: { type: 'adaptive', display: 'summarized' }, output_config: { effort: 'high' } }],
    ['minimal', { thinking: { type: 'adaptive', display: 'summarized' }, output_config: { effort: 'low' } }],
    ['none', { thinking: { type: 'disabled' } }],
  ])('%s is a level of adaptive thinking', async (reasoning_effort, sent) => {
    expect(await extrasOf({ reasoning_effort })).toEqual(sent);
  });

  it.each([
    ['high', 40_000, 16_000],
    // The limit covers thinking: a fifth of it stays for the response.
    ['high', 4_096, 3_276],
    ['low', 1_280, 1_024],
    ['low', 1_279, undefined],
    ['minimal', 4_096, undefined],
    ['none', 4_096, undefined],
  ])('%s with an output limit of %d is a budget of %s', async (reasoning_effort, maxOutputTokens, budget) => {
    const request = await encode({ reasoning_effort }, callWith({ maxOutputTokens }, BUDGETS));
    expect(request.max_tokens).toBe(maxOutputTokens);
    expect(request.thinking).toEqual(
      budget === undefined ? undefined : { type: 'enabled', budget_tokens: budget },
    );
  });

  it('drops the sampling that the provider refuses while the model thinks', async () => {
    const sampling = { temperature: 0.2, top_p: 0.5, top_k: 3 };
    for (const options of [OPTIONS, BUDGETS]) {
      const request = await encode({ reasoning_effort: 'low', ...sampling }, callWith({}, options));
      expect(request).toEqual(expect.not.objectContaining({ temperature: expect.anything() }));
      expect(request).not.toHaveProperty('top_p');
      expect(request).not.toHaveProperty('top_k');
    }
    expect(await extrasOf({ reasoning_effort: 'low', top_p: 0.95 }, callWith({}, BUDGETS))).toHaveProperty(
      'top_p',
      0.95,
    );
    expect(await extrasOf({ reasoning_effort: 'none', ...sampling }, callWith({}, BUDGETS))).toEqual({
      temperature: 0.2,
      top_k: 3,
    });
  });

  it('gives way to a forced tool', async () => {
    const forced = { tools: [TOOL], tool_choice: 'required', reasoning_effort: 'low' };
    expect(await encode(forced, callWith({}, BUDGETS))).not.toHaveProperty('thinking');
    expect(await encode(forced)).toMatchObject({
      thinking: { type: 'disabled' },
      output_config: { effort: 'low' },
    });
    expect(await encode({ ...forced, tool_choice: 'auto' }, callWith({}, BUDGETS))).toHaveProperty(
      'thinking',
    );
  });

  it('with a budget, does not apply to a request that continues an assistant turn', async () => {
    const messages = [QUESTION, { role: 'assistant', content: 'The result is' }];
    expect(await encode({ messages, reasoning_effort: 'low' }, callWith({}, BUDGETS))).not.toHaveProperty(
      'thinking',
    );
  });

  it('with a budget, does not apply to the rest of a tool loop whose thinking the client dropped', async () => {
    const calls = [{ id: 'c', type: 'function', function: { name: 'find', arguments: '{}' } }];
    const result = { role: 'tool', tool_call_id: 'c', content: 'x' };
    const signed = [{ type: 'reasoning.text', index: 0, text: 'hm', signature: 's' }];
    const lost = { role: 'assistant', tool_calls: calls };
    const kept = { ...lost, reasoning_details: signed };
    const thinks = async (...messages: object[]) =>
      'thinking' in
      (await encode(
        { messages: [QUESTION, ...messages], tools: [TOOL], reasoning_effort: 'low' },
        callWith({}, BUDGETS),
      ));
    expect(await thinks(lost, result)).toBe(false);
    expect(await thinks(kept, result)).toBe(true);
    // Later calls of a loop may follow without thinking of their own.
    expect(await thinks(kept, result, lost, result)).toBe(true);
    expect(await thinks(lost, result, kept, result)).toBe(false);
    // An earlier loop, which has ended, does not matter.
    expect(await thinks(lost, result, { role: 'assistant', content: 'Done' }, QUESTION)).toBe(true);
    expect(await thinks(lost, result, QUESTION)).toBe(false);
  });
});
