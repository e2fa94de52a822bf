import { nanoUsd } from '@gateway/base';
import type { JsonValue } from '../json/json-value';
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
  test('honoured and forwarded fields, without those that travel beside the body', () => {
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

  test('hints are dropped for a model that knows none', () => {
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

  test('tool fields without tools, and the ordinary response format, say nothing', () => {
    const fields = {
      tools: [],
      tool_choice: 'auto',
      parallel_tool_calls: true,
      response_format: { type: 'text' },
    };
    expect(Object.keys(forwarded(validate(chatBody(fields))))).toEqual(['messages']);
  });

  test('nested fields outside the schema are left out', () => {
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

describe('what travels beside the body', () => {
  test('stream and the wish for usage, which needs stream', () => {
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

  test('the end user: safety_identifier rather than user', () => {
    expect(accepted(validate(chatBody({ user: 'a', safety_identifier: 'b' }))).externalUser).toBe('b');
    expect(accepted(validate(chatBody({ user: 'a' }))).externalUser).toBe('a');
    expect(accepted(validate(chatBody()))).not.toHaveProperty('externalUser');
  });

  test('the held cost: a tenth more input than estimated, all output of all completions', () => {
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
    // 1,100 tokens at $3 and 300 at $15 per million.
    expect(request.heldCost).toBe(nanoUsd(3_300_000n + 4_500_000n));
  });
});
