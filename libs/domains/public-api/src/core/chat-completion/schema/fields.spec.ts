import type { JsonValue } from '../../json/json-value';
import { chatBody, forwarded, validate, verdict } from '../../testing/chat-fixtures';
import { dataUri, png } from '../../testing/image-fixtures';
import { chatFields } from './fields';

type Fields = Record<string, JsonValue | undefined>;

const IMAGE = dataUri('image/png', png(32, 32));
const TOOL = {
  type: 'function',
  function: { name: 'look_up', parameters: { type: 'object', $schema: 'x' } },
};

function verdictOf(fields: Fields): string {
  return verdict(validate(chatBody(fields)));
}

describe('types and ranges', () => {
  it.each(
    chatFields.filter(({ name }) => name !== 'model' && name !== 'messages').map((field) => field.name),
  )('%s may be null, which means absent', (name) => {
    expect(forwarded(validate(chatBody({ [name]: null })))).toEqual(forwarded(validate(chatBody())));
  });

  it.each<[string, JsonValue[], JsonValue[]]>([
    ['temperature', [0, 0.7, 2], [-0.1, 2.1, '1', true, [], {}]],
    ['top_p', [0, 1], [-0.1, 1.1, '1']],
    ['frequency_penalty', [-2, 2], [-2.1, 2.1, '1']],
    ['presence_penalty', [-2, 2], [-2.1, 2.1, '1']],
    ['max_tokens', [1, 4_096, 1.0, 4_097], [0, -1, 1.5, '5', 1e308]],
    ['max_completion_tokens', [1, 4_096, 4_097], [0, -1, 1.5, '5']],
    ['stop', ['end', [], ['a'], ['a', 'b', 'c', 'd']], [['a', 'b', 'c', 'd', 'e'], 5, {}]],
    ['seed', [0, -5, 9_007_199_254_740_991, 2 ** 63, -(2 ** 63)], [0.5, '1', 2 ** 63 + 2_048, 1e300]],
    ['stream', [false], ['true', 1, {}]],
    [
      'stream_options',
      [{}, { include_usage: true }, { include_usage: null, include_obfuscation: false }],
      [true, []],
    ],
    ['user', ['', 'u-1'], [5, 'x'.repeat(513), 'a\u0000b']],
    ['safety_identifier', ['u-1'], [5, 'x'.repeat(513)]],
    ['metadata', [{}, { a: 'b' }, 'x', { a: null }, { a: { b: [1] } }], [[], 5, true]],
    ['store', [true, false], ['yes', 1]],
    ['service_tier', ['auto', 'default', 'flex', 'scale', 'priority', 'standard'], ['gold', 1]],
    ['modalities', [['text']], [['audio'], ['text', 'audio'], [], 'text']],
    ['verbosity', ['low', 'medium', 'high'], ['loud', 1]],
    ['prompt_cache_key', ['k'], [1, 'x'.repeat(513)]],
    ['prompt_cache_retention', ['24h', 'in_memory'], [1]],
    ['prompt_cache_options', [{ mode: 'x' }], ['x', []]],
    ['prediction', [{ type: 'content', content: 'x' }], ['x', { type: 'other' }, { type: 'content' }]],
    ['parallel_tool_calls', [true, false], ['x', 1]],
    ['logprobs', [true, false], ['x', 1]],
    ['logit_bias', [{}, { '50256': -100 }], [[], 'x', { token: 1 }, { '1': null }]],
    ['reasoning_effort', ['low'], [1, ['low'], {}]],
    ['tools', [[], [TOOL]], ['x', {}]],
    ['tool_choice', ['auto', 'none'], ['always', 5, [], 'required']],
    [
      'response_format',
      [{ type: 'text' }, { type: 'json_object' }],
      ['json', [], {}, { type: 'xml' }, { type: 1 }],
    ],
  ])('%s accepts %j and not %j', (name, valid, invalid) => {
    for (const value of valid) expect(verdictOf({ [name]: value })).toBe('accepted');
    for (const value of invalid) {
      expect(`${JSON.stringify(value)}: ${verdictOf({ [name]: value })}`).toMatch(
        new RegExp(`: invalid_request ${name}(\\.|\\[|$)`),
      );
    }
  });

  it.each<[Fields, string]>([
    [{ stop: ['a', 5] }, 'invalid_request stop[1]'],
    [{ stream_options: { include_usage: 1 } }, 'invalid_request stream_options.include_usage'],
    [{ metadata: { a: 'x'.repeat(513), b: 5, ['x'.repeat(65)]: [] } }, 'accepted'],
    [{ logit_bias: { '5': 101 } }, 'invalid_request logit_bias.5'],
    [{ modalities: ['audio'] }, 'invalid_request modalities[0]'],
    [{ tools: [TOOL, {}] }, 'invalid_request tools[1].type'],
    [{ tools: [{ type: 'custom' }] }, 'invalid_request tools[0].type'],
    [{ tools: [{ type: 'function' }] }, 'invalid_request tools[0].function'],
    [{ tools: [{ type: 'function', function: {} }] }, 'invalid_request tools[0].function.name'],
    [{ tools: [{ type: 'function', function: { name: 'a b' } }] }, 'invalid_request tools[0].function.name'],
    [
      { tools: [{ type: 'function', function: { name: 'x', parameters: 'y' } }] },
      'invalid_request tools[0].function.parameters',
    ],
    [{ tools: Array(129).fill(TOOL) as JsonValue }, 'invalid_request tools'],
    [{ response_format: { type: 'json_schema' } }, 'invalid_request response_format.json_schema'],
    [{ response_format: { type: 'json_object', schema: {} } }, 'invalid_request response_format.schema'],
    [{ response_format: { type: 'json_object', schema: 'x' } }, 'invalid_request response_format.schema'],
    [{ response_format: { type: 'json_object', schema: null } }, 'accepted'],
    [
      { response_format: { type: 'json_schema', json_schema: { name: '' } } },
      'invalid_request response_format.json_schema.name',
    ],
  ])('%j → %s', (fields, expected) => {
    expect(verdictOf(fields)).toBe(expected);
  });

  it('reports the first of several issues in the order of the schema', () => {
    expect(verdictOf({ top_p: 'x', temperature: 'x' })).toBe('invalid_request temperature');
    expect(verdictOf({ store: 1, top_p: 'x' })).toBe('invalid_request top_p');
    expect(verdictOf({ messages: [{ role: 'user' }, 5], n: 'x' })).toBe(
      'invalid_request messages[0].content',
    );
  });

  it('accepts max_tokens and max_completion_tokens only with the same value', () => {
    expect(verdictOf({ max_tokens: 5, max_completion_tokens: 5 })).toBe('accepted');
    expect(verdictOf({ max_tokens: 5, max_completion_tokens: 6 })).toBe(
      'invalid_request max_completion_tokens',
    );
    expect(verdictOf({ max_tokens: null, max_completion_tokens: 6 })).toBe('accepted');
  });

  it('requires logprobs for top_logprobs', () => {
    expect(verdictOf({ logprobs: true, top_logprobs: 5 })).toBe('accepted');
    expect(verdictOf({ top_logprobs: 5 })).toBe('invalid_request top_logprobs');
    expect(verdictOf({ logprobs: false, top_logprobs: 5 })).toBe('invalid_request top_logprobs');
    expect(verdictOf({ logprobs: true, top_logprobs: 21 })).toBe('invalid_request top_logprobs');
  });

  it('requires the tool that a tool choice names', () => {
    const choose = (name: string): JsonValue => ({ type: 'function', function: { name } });
    expect(verdictOf({ tools: [TOOL], tool_choice: 'required' })).toBe('accepted');
    expect(verdictOf({ tools: [TOOL], tool_choice: choose('look_up') })).toBe('accepted');
    expect(verdictOf({ tools: [TOOL], tool_choice: choose('other') })).toBe(
      'invalid_request tool_choice.function.name',
    );
    expect(verdictOf({ tools: [], tool_choice: 'required' })).toBe('invalid_request tool_choice');
  });
});

describe('messages', () => {
  it.each<[JsonValue]>([
    [{ role: 'system', content: 'x' }],
    [{ role: 'system', content: [{ type: 'text', text: 'x' }] }],
    [{ role: 'developer', content: 'x' }],
    [{ role: 'user', content: '', name: 'ann' }],
    [{ role: 'user', content: 'x', name: null, cache_control: { type: 'ephemeral' } }],
    [{ role: 'assistant', content: 'x', refusal: null, reasoning_content: 'secret' }],
    [{ role: 'assistant', content: [{ type: 'refusal', refusal: 'no' }] }],
    [{ role: 'assistant', refusal: 'no' }],
    [{ role: 'assistant', content: 'x', tool_calls: [] }],
    [
      {
        role: 'assistant',
        content: null,
        tool_calls: [{ id: 'call_1', type: 'function', function: { name: 'f', arguments: '{}' }, index: 0 }],
      },
    ],
    [{ role: 'assistant', content: null }],
    [{ role: 'assistant', content: null, tool_calls: [] }],
    [
      {
        role: 'assistant',
        tool_calls: [{ id: 'call_1', function: { name: 'f', arguments: '{}' } }],
      },
    ],
    [{ role: 'tool', content: null, tool_call_id: 'call_1' }],
    [{ role: 'tool', content: 'x', tool_call_id: 'call_1' }],
    [{ role: 'tool', content: [{ type: 'text', text: 'x' }], tool_call_id: 'call_1' }],
    [{ role: 'user', content: 'lone \ud800 surrogate' }],
    [{ role: 'user', content: '<|endoftext|>' }],
  ])('accepts %j', (message) => {
    expect(verdictOf({ messages: [message] })).toBe('accepted');
  });

  it.each<[JsonValue, string]>([
    ['hello', ''],
    [null, ''],
    [[], ''],
    [{}, '.role'],
    [{ role: null, content: 'x' }, '.role'],
    [{ role: 5, content: 'x' }, '.role'],
    [{ role: 'User', content: 'x' }, '.role'],
    [{ role: '__proto__', content: 'x' }, '.role'],
    [{ role: 'function', name: 'f', content: 'x' }, '.role'],
    [{ role: 'user' }, '.content'],
    [{ role: 'user', content: null }, '.content'],
    [{ role: 'user', content: [] }, '.content'],
    [{ role: 'user', content: 5 }, '.content'],
    [{ role: 'user', content: { type: 'text', text: 'x' } }, '.content'],
    [{ role: 'user', content: ['x'] }, '.content[0]'],
    [{ role: 'user', content: [{ type: 'text' }] }, '.content[0].text'],
    [{ role: 'user', content: [{ type: 'text', text: 'x' }, { type: 'video' }] }, '.content[1].type'],
    [{ role: 'user', content: [{ type: 'input_audio', input_audio: {} }] }, '.content[0].type'],
    [{ role: 'user', content: [{ type: 'refusal', refusal: 'x' }] }, '.content[0].type'],
    [{ role: 'user', content: [{ type: 'image_url', image_url: IMAGE }] }, '.content[0].image_url'],
    [{ role: 'user', content: [{ type: 'image_url', image_url: {} }] }, '.content[0].image_url.url'],
    [
      { role: 'user', content: [{ type: 'image_url', image_url: { url: IMAGE, detail: 'huge' } }] },
      '.content[0].image_url.detail',
    ],
    [{ role: 'user', content: 'x', name: 5 }, '.name'],
    [{ role: 'assistant' }, '.content'],
    [{ role: 'assistant', tool_calls: [{}] }, '.tool_calls[0].id'],
    [{ role: 'assistant', tool_calls: [{ id: 'a', type: 'custom' }] }, '.tool_calls[0].type'],
    [
      {
        role: 'assistant',
        tool_calls: [{ id: 'a', type: 'function', function: { name: 'f', arguments: {} } }],
      },
      '.tool_calls[0].function.arguments',
    ],
    [{ role: 'tool', content: 'x' }, '.tool_call_id'],
    [{ role: 'tool', tool_call_id: 'call_1' }, '.content'],
    [{ role: 'assistant', content: 'x', reasoning_content: 5 }, '.reasoning_content'],
  ])('refuses %j at %j', (message, path) => {
    expect(verdictOf({ messages: [{ role: 'user', content: 'x' }, message] })).toBe(
      `invalid_request messages[1]${path}`,
    );
  });

  it('accepts at most 10,000 messages', () => {
    const many = (count: number): JsonValue => Array(count).fill({ role: 'user', content: '' }) as JsonValue;
    expect(verdictOf({ messages: many(10_000), max_tokens: 1 })).toBe('context_length_exceeded messages');
    expect(verdictOf({ messages: many(10_001) })).toBe('invalid_request messages');
  });
});
