import type { JsonObject, JsonValue } from '../../json/json-value';
import { accepted, forwarded, refused, validate } from '../../testing/chat-fixtures';
import { png } from '../../testing/image-fixtures';
import { pack } from '../packed-reasoning';

const user = { role: 'user', content: 'Hello' };
const body = (fields: JsonObject = {}): JsonObject => ({
  model: 'acme/able',
  max_tokens: 100,
  messages: [user],
  ...fields,
});
const check = (fields: JsonObject, dropsHostedTools = false) =>
  validate(body(fields), {}, undefined, 'messages', dropsHostedTools);
const bodyOf = (fields: JsonObject) => forwarded(check(fields));
const messagesOf = (messages: JsonValue[]) => bodyOf({ messages })['messages'];

const point = { type: 'ephemeral', ttl: '1h' };
const image = {
  type: 'image',
  source: { type: 'base64', media_type: 'image/png', data: Buffer.from(png(2, 2)).toString('base64') },
};
const tool = { name: 'f', description: 'F', input_schema: { type: 'object' } };

it('translates instructions, tools, results, images and cache points', () => {
  const messages: JsonValue[] = [
    { role: 'user', content: [{ type: 'text', text: 'Look', cache_control: point }, image] },
    {
      role: 'assistant',
      content: [
        { type: 'text', text: 'I call' },
        { type: 'tool_use', id: 'toolu_1', name: 'f', input: { a: 1 }, cache_control: point },
      ],
    },
    {
      role: 'user',
      content: [
        { type: 'text', text: 'and now' },
        { type: 'tool_result', tool_use_id: 'toolu_1', content: [{ type: 'text', text: 'r' }, image] },
        { type: 'tool_result', tool_use_id: 'toolu_2', content: 'failed', is_error: true },
        { type: 'tool_result', tool_use_id: 'toolu_3' },
      ],
    },
  ];
  const url = `data:image/png;base64,${image.source.data}`;
  expect(
    bodyOf({ system: [{ type: 'text', text: 'Be brief', cache_control: point }], tools: [tool], messages }),
  ).toEqual({
    messages: [
      { role: 'system', content: [{ type: 'text', text: 'Be brief', cache_control: point }] },
      {
        role: 'user',
        content: [
          { type: 'text', text: 'Look', cache_control: point },
          { type: 'image_url', image_url: { url } },
        ],
      },
      {
        role: 'assistant',
        content: [{ type: 'text', text: 'I call' }],
        tool_calls: [
          {
            id: 'toolu_1',
            type: 'function',
            function: { name: 'f', arguments: '{"a":1}' },
            cache_control: point,
          },
        ],
      },
      {
        role: 'tool',
        tool_call_id: 'toolu_1',
        content: [
          { type: 'text', text: 'r' },
          { type: 'image_url', image_url: { url } },
        ],
      },
      { role: 'tool', tool_call_id: 'toolu_2', content: 'failed', is_error: true },
      { role: 'tool', tool_call_id: 'toolu_3', content: '' },
      { role: 'user', content: [{ type: 'text', text: 'and now' }] },
    ],
    tools: [{ type: 'function', function: { name: 'f', description: 'F', parameters: { type: 'object' } } }],
  });
});

it('keeps signed and redacted thinking, in the order of the turn', () => {
  const messages: JsonValue[] = [
    user,
    {
      role: 'assistant',
      content: [
        { type: 'thinking', thinking: 'one', signature: 'c2ln' },
        { type: 'text', text: 'A' },
        { type: 'thinking', thinking: 'two', signature: 'b3RoZXI=' },
        { type: 'redacted_thinking', data: 'b3BhcXVl' },
        { type: 'tool_use', id: 'c', name: 'f', input: {} },
      ],
    },
  ];
  expect(messagesOf(messages)).toEqual([
    user,
    {
      role: 'assistant',
      content: [{ type: 'text', text: 'A' }],
      reasoning_details: [{ type: 'reasoning.text', text: 'one', signature: 'c2ln' }],
    },
    {
      role: 'assistant',
      reasoning_details: [
        { type: 'reasoning.text', text: 'two', signature: 'b3RoZXI=' },
        { type: 'reasoning.encrypted', data: 'b3BhcXVl' },
      ],
      tool_calls: [{ id: 'c', type: 'function', function: { name: 'f', arguments: '{}' } }],
    },
  ]);
});

it('keeps the signature of a text with the text before it', () => {
  const content: JsonObject[] = [
    { type: 'text', text: 'A' },
    { type: 'redacted_thinking', data: '0.1.c2ln' },
  ];
  expect(messagesOf([user, { role: 'assistant', content }])).toEqual([
    user,
    {
      role: 'assistant',
      content: [{ type: 'text', text: 'A' }],
      reasoning_details: [{ type: 'reasoning.encrypted', data: '0.1.c2ln' }],
    },
  ]);
});

it('restores what responses pack: signers, reasoning of other vendors, signatures of calls', () => {
  const extra = { google: { thought_signature: 's' } };
  const messages: JsonValue[] = [
    user,
    {
      role: 'assistant',
      content: [
        {
          type: 'thinking',
          thinking: 'one',
          signature: pack({ details: [{ type: 'reasoning.text', signature: 'c2ln', signed_by: 'a' }] }),
        },
        { type: 'redacted_thinking', data: pack({ details: [{ type: 'reasoning.summary', summary: 's' }] }) },
        { type: 'redacted_thinking', data: pack({ calls: { c: extra } }) },
        { type: 'redacted_thinking', data: 'gw1.broken' },
        { type: 'tool_use', id: 'c', name: 'f', input: {} },
      ],
    },
    { role: 'user', content: [{ type: 'tool_result', tool_use_id: 'c', content: 'r' }] },
  ];
  const result = accepted(check({ messages }));
  expect(forwarded(result)['messages']).toMatchObject([
    user,
    {
      reasoning_details: [
        { type: 'reasoning.text', text: 'one', signature: 'c2ln', signed_by: 'a' },
        { type: 'reasoning.summary', summary: 's' },
      ],
      tool_calls: [{ id: 'c', extra_content: extra }],
    },
    { role: 'tool' },
  ]);
  expect(result.signedBy).toBe('a');
});

it('sends thinking without a signature only to models that accept readable reasoning', () => {
  const messages: JsonValue[] = [
    user,
    { role: 'assistant', content: [{ type: 'thinking', thinking: 'hm', signature: '' }] },
  ];
  expect(messagesOf(messages)).toEqual([user, { role: 'assistant', content: '' }]);
  const extra = validate({ ...body({ messages }), model: 'acme/extra' }, {}, undefined, 'messages');
  expect(forwarded(extra)['messages']).toEqual([
    user,
    { role: 'assistant', content: '', reasoning_content: 'hm' },
  ]);
});

it.each<[string, JsonObject, JsonObject]>([
  ['any tool', { tool_choice: { type: 'any' } }, { tool_choice: 'required' }],
  ['no tool', { tool_choice: { type: 'none' } }, { tool_choice: 'none' }],
  [
    'one tool',
    { tool_choice: { type: 'tool', name: 'f' } },
    { tool_choice: { type: 'function', function: { name: 'f' } } },
  ],
  [
    'one call at a time',
    { tool_choice: { type: 'auto', disable_parallel_tool_use: true } },
    { tool_choice: 'auto', parallel_tool_calls: false },
  ],
  ['a small budget', { thinking: { type: 'enabled', budget_tokens: 1_024 } }, { reasoning_effort: 'low' }],
  ['a budget', { thinking: { type: 'enabled', budget_tokens: 8_000 } }, { reasoning_effort: 'medium' }],
  ['adaptive thinking', { thinking: { type: 'adaptive' } }, { reasoning_effort: 'high' }],
  [
    'an effort above those of the model',
    { thinking: { type: 'adaptive' }, output_config: { effort: 'max' } },
    { reasoning_effort: 'high' },
  ],
  ['no thinking', { thinking: { type: 'disabled' } }, {}],
  ['stop sequences', { stop_sequences: ['END'] }, { stop: ['END'] }],
  ['sampling', { temperature: 0.5, top_p: 0.9 }, { temperature: 0.5, top_p: 0.9 }],
  ['top_k where it is not supported', { top_k: 5 }, {}],
  [
    'a format',
    { output_config: { format: { type: 'json_schema', schema: { type: 'object' } } } },
    {
      response_format: {
        type: 'json_schema',
        json_schema: { name: 'response', schema: { type: 'object' }, strict: true },
      },
    },
  ],
  ['fields of betas', { context_management: { edits: [] }, mcp_servers: [], speed: null }, {}],
])('translates %s', (_what, fields, expected) => {
  const { messages: _, tools: __, ...rest } = bodyOf({ tools: [tool], ...fields });
  expect(rest).toEqual(expected);
});

it('forwards top_k to models that list it', () => {
  const result = validate({ ...body({ top_k: 5 }), model: 'acme/extra' }, {}, undefined, 'messages');
  expect(forwarded(result)['top_k']).toBe(5);
});

it('ignores thinking on a model without reasoning', () => {
  const result = validate(
    { ...body({ thinking: { type: 'adaptive' }, output_config: { effort: 'high' } }), model: 'acme/plain' },
    {},
    undefined,
    'messages',
  );
  expect(Object.keys(forwarded(result))).toEqual(['messages']);
});

it('moves the cache point of the request to the end of the conversation', () => {
  expect(bodyOf({ cache_control: { type: 'ephemeral' } })['messages']).toEqual([
    { role: 'user', content: [{ type: 'text', text: 'Hello', cache_control: { type: 'ephemeral' } }] },
  ]);
});

it('counts the cache points of calls: the longest lifetime is held', () => {
  const call = { type: 'tool_use', id: 'c', name: 'f', input: {}, cache_control: point };
  const messages: JsonValue[] = [user, { role: 'assistant', content: [call] }, user];
  expect(accepted(check({ messages })).cacheWrites).toBe('1h');
});

it('keeps the end user, and the output limit', () => {
  const result = accepted(check({ metadata: { user_id: 'user-1' } }));
  expect(result).toMatchObject({ externalUser: 'user-1', maxOutputTokens: 100, includeUsage: false });
  expect(accepted(check({ stream: true })).includeUsage).toBe(true);
});

it('removes hosted tools where the deployment does so, and refuses them by name otherwise', () => {
  const search = { type: 'web_search_20250305', name: 'web_search' };
  expect(refused(check({ tools: [tool, search] }))).toMatchObject({
    code: 'invalid_request',
    param: 'tools[1].type',
    message: expect.stringContaining('Hosted tools are not supported') as string,
  });
  expect(forwarded(check({ tools: [tool, search] }, true))['tools']).toHaveLength(1);
  expect(forwarded(check({ tools: [search] }, true))['tools']).toBeUndefined();
});

it.each<[JsonObject, string]>([
  [{ messages: [] }, 'missing_messages messages'],
  [{ model: null }, 'missing_model model'],
  [{ fallbacks: [] }, 'unknown_parameter fallbacks'],
  [{ system: 5 }, 'invalid_request system'],
  [{ messages: [{ role: 'tool', content: '' }] }, 'invalid_request messages[0].role'],
  [
    { messages: [{ role: 'user', content: [{ type: 'document', source: {} }] }] },
    'invalid_request messages[0].content[0].source.type',
  ],
  [
    {
      messages: [{ role: 'user', content: [{ type: 'image', source: { type: 'url', url: 'https://a/b' } }] }],
    },
    'image_url_not_supported messages[0].content[0].source',
  ],
  [
    {
      messages: [
        user,
        {
          role: 'user',
          content: [
            {
              type: 'tool_result',
              tool_use_id: 'c',
              content: [{ ...image, source: { ...image.source, data: 'AAAA' } }],
            },
          ],
        },
      ],
    },
    'invalid_request messages[1].content[0].content[0].source.data',
  ],
  [{ tool_choice: { type: 'tool', name: 'g' }, tools: [tool] }, 'invalid_request tool_choice.name'],
  [
    { stream: true, output_config: { format: { type: 'json_schema', schema: {} } } },
    'json_mode_no_stream output_config.format',
  ],
  [{ model: 'acme/plain', tools: [tool] }, 'tools_not_supported tools'],
  [
    { model: 'acme/plain', messages: [{ role: 'user', content: [image] }] },
    'vision_not_available messages[0].content[0]',
  ],
  [{ max_tokens: 9_000 }, 'context_length_exceeded messages'],
  [{ betas: [] }, 'unknown_parameter betas'],
])('refuses %j', (fields, expected) => {
  const { code, param } = refused(check(fields));
  expect(`${code} ${param}`).toBe(expected);
});
