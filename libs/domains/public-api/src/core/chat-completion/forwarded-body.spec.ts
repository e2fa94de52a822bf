import { nanoUsd } from '@gateway/base';
import type { JsonValue } from '../json/json-value';
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

describe('what the model gets to see', () => {
  it('honoured and forwarded fields, without those that travel beside the body', () => {
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

  it('hints are dropped for a model that knows none', () => {
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

  it('tool fields without tools, and the ordinary response format, say nothing', () => {
    const fields = {
      tools: [],
      tool_choice: 'auto',
      parallel_tool_calls: true,
      response_format: { type: 'text' },
    };
    expect(Object.keys(forwarded(validate(chatBody(fields))))).toEqual(['messages']);
  });

  it('nested fields outside the schema are left out', () => {
    const messages: JsonValue = [
      {
        role: 'user',
        content: [{ type: 'text', text: 'a', cache_control: { type: 'x' } }],
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

describe('what clients leave out or write otherwise', () => {
  const sent = (messages: JsonValue, model = 'acme/able') =>
    forwarded(validate(chatBody({ messages, model })))['messages'];

  it('a null as content is an empty text, unless calls or a refusal stand beside it', () => {
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

  it('a tool call without its type is one of a function', () => {
    const call = { id: 'a', function: { name: 'f', arguments: '{}' } };
    expect(sent([{ role: 'assistant', tool_calls: [call] }])).toEqual([
      { role: 'assistant', tool_calls: [{ ...call, type: 'function' }] },
    ]);
  });

  it('reasoning_content goes to models that want it back, and is counted for them', () => {
    const messages = [{ role: 'assistant', content: 'Hi', reasoning_content: 'Let me think.' }];
    expect(sent(messages)).toEqual([{ role: 'assistant', content: 'Hi' }]);
    expect(sent(messages, 'acme/extra')).toEqual(messages);
    const tokens = (model: string) => accepted(validate(chatBody({ messages, model }))).estimatedInputTokens;
    expect(tokens('acme/extra')).toBeGreaterThan(tokens('acme/able'));
  });

  it('no stop texts, a tool hint for a model that knows none, and what is ignored are not passed on', () => {
    const tools = { tools: [TOOL], parallel_tool_calls: true };
    const ignored = { metadata: 'nightly', service_tier: 'flex', stop: [] };
    const [toolsOnly] = [forwarded(validate(chatBody({ model: 'acme/tools', ...tools, ...ignored })))];
    expect(Object.keys(toolsOnly)).toEqual(['messages', 'tools']);
  });

  it('an image arrives as what its bytes are, without white space', () => {
    const clean = dataUri('image/png', png(3, 2));
    const url = clean.replace('image/png', 'image/jpg').replace('AA', 'A\n  A');
    const messages = [{ role: 'user', content: [{ type: 'image_url', image_url: { url } }] }];
    expect(JSON.stringify(sent(messages))).toBe(
      JSON.stringify(messages).replace(JSON.stringify(url), JSON.stringify(clean)),
    );
  });
});

describe('what travels beside the body', () => {
  it('stream and the wish for usage, which needs stream', () => {
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

  it('the end user: safety_identifier rather than user', () => {
    expect(accepted(validate(chatBody({ user: 'a', safety_identifier: 'b' }))).externalUser).toBe('b');
    expect(accepted(validate(chatBody({ user: 'a' }))).externalUser).toBe('a');
    expect(accepted(validate(chatBody()))).not.toHaveProperty('externalUser');
  });

  it('the held cost: a tenth more input than estimated, all output of all completions', () => {
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
    // The dearest kind of each: 1,100 tokens at $5 (images) and 300 at $20 (reasoning) per million.
    expect(request.heldCost).toBe(nanoUsd(5_500_000n + 6_000_000n));
  });
});
