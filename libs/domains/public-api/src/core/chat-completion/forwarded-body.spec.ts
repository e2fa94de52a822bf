import { nanoUsd } from '@gateway/base';
import type { JsonObject, JsonValue } from '../json/json-value';
import { dataUri, png } from '../testing/image-fixtures';
import { ableModel, accepted, chatBody, forwarded, validate, quarterCounter } from '../testing/chat-fixtures';

const TOOL: JsonValue = {
  type: 'function',
  function: {
    name: 'look_up',
    description: 'd',
    strict: true,
    parameters: { type: 'object', $schema: 'x', deep: [{}] },
  },
};

describe('the forwarded body', () => {
  it('contains honoured and forwarded fields, without those sent separately', () => {
    const body = chatBody({
      stream: true,
      stream_options: { include_usage: true },
      max_tokens: 5,
      max_completion_tokens: 5,
      n: 1,
      tools: [TOOL],
      tool_choice: 'auto',
      parallel_tool_calls: false,
      reasoning_effort: 'low',
      temperature: 0.5,
      top_p: 0.9,
      stop: ['a'],
      seed: 7,
      frequency_penalty: 1,
      presence_penalty: -1,
      logprobs: true,
      top_logprobs: 3,
      logit_bias: { '7': 1.5 },
      verbosity: 'low',
      prompt_cache_key: 'k',
      user: 'ann',
      metadata: { a: 'b' },
      store: true,
      service_tier: 'auto',
      modalities: ['text'],
    });
    expect(forwarded(validate(body))).toEqual({
      messages: [{ role: 'user', content: 'Hello' }],
      tools: [TOOL],
      tool_choice: 'auto',
      parallel_tool_calls: false,
      reasoning_effort: 'low',
      temperature: 0.5,
      top_p: 0.9,
      stop: ['a'],
      seed: 7,
      frequency_penalty: 1,
      presence_penalty: -1,
      logprobs: true,
      top_logprobs: 3,
      logit_bias: { '7': 1.5 },
      verbosity: 'low',
      prompt_cache_key: 'k',
    });
  });

  it('omits hints for a model that supports none', () => {
    const hints = {
      verbosity: 'low',
      prompt_cache_key: 'k',
      prompt_cache_retention: '24h',
      prompt_cache_options: {},
      prediction: { type: 'content', content: 'x' },
      logprobs: false,
      logit_bias: {},
    };
    expect(Object.keys(forwarded(validate(chatBody({ model: 'acme/plain', ...hints }))))).toEqual([
      'messages',
    ]);
  });

  it.each([{}, { logprobs: false }])(
    'omits `top_logprobs: 0` with %j, which some providers refuse without log probabilities',
    (fields) => {
      expect(forwarded(validate(chatBody({ top_logprobs: 0, ...fields })))).not.toHaveProperty(
        'top_logprobs',
      );
      expect(forwarded(validate(chatBody({ top_logprobs: 0, logprobs: true })))).toHaveProperty(
        'top_logprobs',
        0,
      );
    },
  );

  it('omits tool fields without tools, and the default response format', () => {
    const fields = {
      tools: [],
      tool_choice: 'auto',
      parallel_tool_calls: true,
      response_format: { type: 'text' },
    };
    expect(Object.keys(forwarded(validate(chatBody(fields))))).toEqual(['messages']);
  });

  it('omits nested fields outside the schema', () => {
    const messages: JsonValue = [
      {
        role: 'user',
        content: [{ type: 'text', text: 'a', annotations: [] }],
        tool_calls: 5,
        extra: 1,
      },
      {
        role: 'assistant',
        content: null,
        reasoning_content: 'r',
        tool_calls: [],
        refusal: 'no',
        audio: null,
      },
      {
        role: 'assistant',
        tool_calls: [
          { id: 'a', type: 'function', index: 0, function: { name: 'f', arguments: '{', parsed: {} } },
        ],
      },
      { role: 'tool', content: 'x', tool_call_id: 'a', name: 'f' },
    ];
    expect(forwarded(validate(chatBody({ messages })))['messages']).toEqual([
      { role: 'user', content: [{ type: 'text', text: 'a' }] },
      { role: 'assistant', refusal: 'no' },
      {
        role: 'assistant',
        tool_calls: [{ id: 'a', type: 'function', function: { name: 'f', arguments: '{' } }],
      },
      { role: 'tool', content: 'x', tool_call_id: 'a', name: 'f' },
    ]);
  });
});

describe('variants that clients send', () => {
  const sent = (messages: JsonValue, model = 'acme/able') =>
    forwarded(validate(chatBody({ messages, model })))['messages'];

  it('treats null content as an empty text, unless there are tool calls or a refusal', () => {
    const call = { id: 'a', type: 'function', function: { name: 'f', arguments: '{}' } };
    expect(
      sent([
        { role: 'assistant', content: null },
        { role: 'assistant', content: null, tool_calls: [] },
        { role: 'assistant', content: null, refusal: 'no' },
        { role: 'assistant', content: null, tool_calls: [call] },
        { role: 'tool', content: null, tool_call_id: 'a' },
      ]),
    ).toEqual([
      { role: 'assistant', content: '' },
      { role: 'assistant', content: '' },
      { role: 'assistant', refusal: 'no' },
      { role: 'assistant', tool_calls: [call] },
      { role: 'tool', content: '', tool_call_id: 'a' },
    ]);
  });

  it('adds the default type to a tool call', () => {
    const call = { id: 'a', function: { name: 'f', arguments: '{}' } };
    expect(sent([{ role: 'assistant', tool_calls: [call] }])).toEqual([
      { role: 'assistant', tool_calls: [{ ...call, type: 'function' }] },
    ]);
  });

  it('sends the extra content of a tool call unchanged, and counts it', () => {
    const call = { id: 'a', type: 'function', function: { name: 'f', arguments: '{}' } };
    const signed = { ...call, extra_content: { google: { thought_signature: 'CiQB' } } };
    const messages = [{ role: 'assistant', tool_calls: [signed] }];
    expect(sent(messages)).toEqual(messages);
    const tokens = (made: JsonValue) =>
      accepted(
        validate(chatBody({ model: 'acme/able', messages: [{ role: 'assistant', tool_calls: [made] }] })),
      ).estimatedInputTokens;
    expect(tokens(signed)).toBeGreaterThan(tokens(call));
  });

  it('sends reasoning_content only to models that accept it, and counts it for them', () => {
    const messages = [{ role: 'assistant', content: 'Hi', reasoning_content: 'Let me think.' }];
    expect(sent(messages)).toEqual([{ role: 'assistant', content: 'Hi' }]);
    expect(sent(messages, 'acme/extra')).toEqual(messages);
    const tokens = (model: string) => accepted(validate(chatBody({ messages, model }))).estimatedInputTokens;
    expect(tokens('acme/extra')).toBeGreaterThan(tokens('acme/able'));
  });

  it('accepts reasoning by its other name', () => {
    const named = (name: string) => [{ role: 'assistant', content: 'Hi', [name]: 'Let me think.' }];
    expect(sent(named('reasoning'))).toEqual([{ role: 'assistant', content: 'Hi' }]);
    expect(sent(named('reasoning'), 'acme/extra')).toEqual(named('reasoning_content'));
  });

  it('sends signed parts of reasoning, and neither sends nor counts the unsigned ones of responses', () => {
    const turn = (...details: JsonObject[]) => [
      { role: 'assistant', content: 'Hi', ...(details.length === 0 ? {} : { reasoning_details: details }) },
    ];
    const unsigned = { type: 'reasoning.text', text: 'Let me think. '.repeat(100) };
    const signed: JsonObject[] = [
      { type: 'reasoning.text', index: 0, text: 'Let me ' },
      { type: 'reasoning.text', index: 0, text: 'think.', signature: 's' },
      { type: 'reasoning.text', format: 'anthropic-claude-v1', text: 'Hm.' },
      { type: 'reasoning.encrypted', data: 'd' },
    ];
    expect(sent(turn(unsigned, ...signed))).toEqual(turn(...signed));
    expect(sent(turn(unsigned))).toEqual(turn());
    const tokens = (messages: JsonValue) => accepted(validate(chatBody({ messages }))).estimatedInputTokens;
    expect(tokens(turn(unsigned))).toBe(tokens(turn()));
  });

  it('omits an empty stop list, unsupported hints and ignored fields', () => {
    const tools = { tools: [TOOL], parallel_tool_calls: true };
    const ignored = { metadata: 'nightly', service_tier: 'flex', stop: [] };
    const [toolsOnly] = [forwarded(validate(chatBody({ model: 'acme/tools', ...tools, ...ignored })))];
    expect(Object.keys(toolsOnly)).toEqual(['messages', 'tools']);
  });

  it('corrects the type of an image and removes white space from its data', () => {
    const clean = dataUri('image/png', png(3, 2));
    const url = clean.replace('image/png', 'image/jpg').replace('AA', 'A\n  A');
    const messages = [{ role: 'user', content: [{ type: 'image_url', image_url: { url } }] }];
    expect(JSON.stringify(sent(messages))).toBe(
      JSON.stringify(messages).replace(JSON.stringify(url), JSON.stringify(clean)),
    );
  });
});

describe('the fields sent separately', () => {
  it('include stream and include_usage, which requires stream', () => {
    const wish = { stream_options: { include_usage: true } };
    expect(accepted(validate(chatBody({ stream: true, ...wish })))).toMatchObject({
      stream: true,
      includeUsage: true,
    });
    expect(accepted(validate(chatBody({ stream: true })))).toMatchObject({
      stream: true,
      includeUsage: false,
    });
    expect(accepted(validate(chatBody(wish)))).toMatchObject({ stream: false, includeUsage: false });
  });

  it('include the end user, with safety_identifier before user', () => {
    expect(accepted(validate(chatBody({ user: 'a', safety_identifier: 'b' }))).externalUser).toBe('b');
    expect(accepted(validate(chatBody({ user: 'a' }))).externalUser).toBe('a');
    expect(accepted(validate(chatBody())).externalUser).toBeUndefined();
  });

  it('include the held cost: the estimated input plus 10% and the maximum output of all completions', () => {
    const request = accepted(
      validate(
        chatBody({ max_tokens: 100, n: 3 }),
        { multipleCompletions: true },
        { ...quarterCounter, count: () => 994 },
      ),
    );
    expect(request).toMatchObject({
      n: 3,
      maxOutputTokens: 100,
      estimatedInputTokens: 1_000,
      model: ableModel,
    });
    // At the highest price of each: 1,100 tokens at $5 (images) and 300 at $20 (reasoning) per million.
    expect(request.heldCostNanoUsd).toBe(nanoUsd(5_500_000n + 6_000_000n));
  });
});
