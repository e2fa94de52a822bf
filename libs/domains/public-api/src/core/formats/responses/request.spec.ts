import type { JsonObject, JsonValue } from '../../json/json-value';
import { accepted, forwarded, refused, validate } from '../../testing/chat-fixtures';
import { dataUri, png } from '../../testing/image-fixtures';
import { pack } from '../packed-reasoning';

const body = (fields: JsonObject = {}): JsonObject => ({ model: 'acme/able', input: 'Hello', ...fields });
const check = (fields: JsonObject, dropsHostedTools = false) =>
  validate(body(fields), {}, undefined, 'responses', dropsHostedTools);
const bodyOf = (fields: JsonObject) => forwarded(check(fields));
const messagesOf = (input: JsonValue) => bodyOf({ input })['messages'];

const user = { role: 'user', content: 'Hello' };
const IMAGE = dataUri('image/png', png(2, 2));
const tool = { type: 'function', name: 'f', description: 'F', parameters: { type: 'object' }, strict: false };
const custom = { type: 'custom', name: 'patch', description: 'Patches files' };

it('translates instructions, messages, images and cache points', () => {
  const input: JsonValue[] = [
    { role: 'developer', content: 'Be brief' },
    {
      type: 'message',
      role: 'user',
      content: [
        { type: 'input_text', text: 'Look', prompt_cache_breakpoint: { mode: 'explicit' } },
        { type: 'input_image', image_url: IMAGE, detail: 'original' },
      ],
    },
    {
      type: 'message',
      id: 'msg_1',
      status: 'completed',
      role: 'assistant',
      content: [{ type: 'output_text', text: 'A', annotations: [] }],
    },
  ];
  expect(bodyOf({ instructions: 'Help', input })['messages']).toEqual([
    { role: 'system', content: 'Help' },
    { role: 'developer', content: 'Be brief' },
    {
      role: 'user',
      content: [
        { type: 'text', text: 'Look', cache_control: { type: 'ephemeral' } },
        { type: 'image_url', image_url: { url: IMAGE, detail: 'high' } },
      ],
    },
    { role: 'assistant', content: [{ type: 'text', text: 'A' }] },
  ]);
});

it('joins the items of a turn, and keeps calls with their outputs and signatures', () => {
  const details = [{ type: 'reasoning.text', text: 't', signature: 's', signed_by: 'a' }];
  const extra = { google: { thought_signature: 's' } };
  const input: JsonValue[] = [
    user,
    {
      type: 'reasoning',
      id: 'rs_1',
      summary: [{ type: 'summary_text', text: 't' }],
      encrypted_content: pack({ details, calls: { c1: extra } }),
    },
    { type: 'message', role: 'assistant', content: 'I call' },
    {
      type: 'function_call',
      id: 'fc_1',
      call_id: 'c1',
      name: 'f',
      arguments: '{"a":1}',
      status: 'completed',
    },
    { type: 'custom_tool_call', call_id: 'c2', name: 'patch', input: 'text' },
    { type: 'function_call_output', call_id: 'c1', output: 'r' },
    {
      type: 'custom_tool_call_output',
      call_id: 'c2',
      output: [
        { type: 'input_text', text: 'ok' },
        { type: 'input_image', image_url: IMAGE },
      ],
    },
  ];
  const result = accepted(check({ input }));
  expect(forwarded(result)['messages']).toEqual([
    user,
    {
      role: 'assistant',
      content: [{ type: 'text', text: 'I call' }],
      reasoning_details: details,
      tool_calls: [
        { id: 'c1', type: 'function', function: { name: 'f', arguments: '{"a":1}' }, extra_content: extra },
        { id: 'c2', type: 'function', function: { name: 'patch', arguments: '{"input":"text"}' } },
      ],
    },
    { role: 'tool', tool_call_id: 'c1', content: 'r' },
    {
      role: 'tool',
      tool_call_id: 'c2',
      content: [
        { type: 'text', text: 'ok' },
        { type: 'image_url', image_url: { url: IMAGE } },
      ],
    },
  ]);
  expect(result.signedBy).toBe('a');
});

it('starts another message with signed thinking, and keeps the signature of a text with the text', () => {
  const packed = (details: JsonObject[]): JsonObject => ({
    type: 'reasoning',
    summary: [],
    encrypted_content: pack({ details }),
  });
  const thinking = { type: 'reasoning.text', text: 't', signature: 's' };
  const ofText = { type: 'reasoning.encrypted', data: '0.1.c2ln' };
  const said = { role: 'assistant', content: 'A' };
  const text = { role: 'assistant', content: [{ type: 'text', text: 'A' }] };
  expect(messagesOf([user, said, packed([ofText])])).toEqual([
    user,
    { ...text, reasoning_details: [ofText] },
  ]);
  expect(messagesOf([user, said, packed([thinking]), said])).toEqual([
    user,
    text,
    { ...text, reasoning_details: [thinking] },
  ]);
});

it('sends no turn of reasoning alone, and ignores what is not packed here', () => {
  const reasoning = { type: 'reasoning', summary: [], encrypted_content: 'gAAAA' };
  expect(messagesOf([user, reasoning])).toEqual([user]);
  expect(messagesOf([user, reasoning, { role: 'assistant', content: 'A' }])).toEqual([
    user,
    { role: 'assistant', content: [{ type: 'text', text: 'A' }] },
  ]);
});

it('translates functions, custom tools and choices', () => {
  const { tools, tool_choice } = bodyOf({
    tools: [tool, { ...custom, format: { type: 'grammar', syntax: 'lark', definition: 'start: "a"' } }],
    tool_choice: { type: 'custom', name: 'patch' },
  });
  expect(tools).toEqual([
    {
      type: 'function',
      function: { name: 'f', description: 'F', parameters: { type: 'object' }, strict: false },
    },
    {
      type: 'function',
      function: {
        name: 'patch',
        description: 'Patches files\n\nThe input must match this lark grammar:\nstart: "a"',
        parameters: {
          type: 'object',
          properties: { input: { type: 'string' } },
          required: ['input'],
          additionalProperties: false,
        },
      },
    },
  ]);
  expect(tool_choice).toEqual({ type: 'function', function: { name: 'patch' } });
  const allowed = { type: 'allowed_tools', mode: 'auto', tools: [{ type: 'function', name: 'f' }] };
  expect(bodyOf({ tools: [tool], tool_choice: allowed })['tool_choice']).toEqual({
    type: 'allowed_tools',
    allowed_tools: { mode: 'auto', tools: [{ type: 'function', function: { name: 'f' } }] },
  });
});

it.each<[string, JsonObject, JsonObject]>([
  [
    'a schema',
    { text: { format: { type: 'json_schema', name: 'n', schema: {}, strict: true } } },
    {
      response_format: { type: 'json_schema', json_schema: { name: 'n', schema: {}, strict: true } },
    },
  ],
  ['JSON', { text: { format: { type: 'json_object' } } }, { response_format: { type: 'json_object' } }],
  ['text', { text: { format: { type: 'text' }, verbosity: 'low' } }, { verbosity: 'low' }],
  ['reasoning', { reasoning: { effort: 'low', summary: 'auto' } }, { reasoning_effort: 'low' }],
  ['sampling', { temperature: 1.5, top_p: 0.5 }, { temperature: 1.5, top_p: 0.5 }],
  ['hints', { prompt_cache_key: 'k', store: false, background: false }, { prompt_cache_key: 'k' }],
  [
    'what Codex sends',
    { include: ['reasoning.encrypted_content'], client_metadata: { a: 'b' }, service_tier: 'priority' },
    {},
  ],
])('translates %s', (_what, fields, expected) => {
  const { messages: _, ...rest } = bodyOf(fields);
  expect(rest).toEqual(expected);
});

it('keeps the end user, and the output limit', () => {
  const result = accepted(check({ user: 'user-1', max_output_tokens: 50 }));
  expect(result).toMatchObject({ externalUser: 'user-1', maxOutputTokens: 50 });
  expect(accepted(check({ stream: true })).includeUsage).toBe(true);
});

it('streams JSON of text.format with a key that allows it', () => {
  const formats: JsonObject[] = [{ type: 'json_object' }, { type: 'json_schema', name: 'a', schema: {} }];
  for (const format of formats) {
    const fields = { stream: true, text: { format } };
    const allowed = accepted(validate(body(fields), { jsonStreaming: true }, undefined, 'responses'));
    expect(allowed).toMatchObject({ stream: true, isJson: true });
    expect(forwarded(allowed)['response_format']).toMatchObject({ type: format['type'] });
  }
});

it('removes hosted tools where the deployment does so, and refuses them by name otherwise', () => {
  const search = { type: 'web_search' };
  expect(refused(check({ tools: [search, tool] }))).toMatchObject({
    code: 'invalid_request',
    param: 'tools[0].type',
    message: expect.stringContaining('Hosted tools are not supported') as string,
  });
  expect(forwarded(check({ tools: [search, tool] }, true))['tools']).toHaveLength(1);
});

it.each<[JsonObject, string]>([
  [{ input: [] }, 'missing_messages input'],
  [{ input: '' }, 'missing_messages input'],
  [{ previous_response_id: 'resp_1' }, 'unknown_parameter previous_response_id'],
  [{ conversation: 'conv_1' }, 'unknown_parameter conversation'],
  [{ prompt: { id: 'p' } }, 'unknown_parameter prompt'],
  [{ background: true }, 'invalid_request background'],
  [{ store: true }, 'invalid_request store'],
  [{ truncation: 'auto' }, 'invalid_request truncation'],
  [{ messages: [] }, 'unknown_parameter messages'],
  [{ input: [{ type: 'item_reference', id: 'x' }] }, 'invalid_request input[0].type'],
  [
    { input: [{ role: 'user', content: [{ type: 'input_file', file_id: 'f' }] }] },
    'invalid_request input[0].content[0].file_data',
  ],
  [
    {
      input: [
        {
          role: 'assistant',
          content: [{ type: 'input_file', file_data: 'data:application/pdf;base64,AAAA' }],
        },
      ],
    },
    'invalid_request input[0].content[0].type',
  ],
  [
    { input: [{ role: 'user', content: [{ type: 'input_image', image_url: 'https://a/b' }] }] },
    'image_url_not_supported input[0].content[0].image_url',
  ],
  [{ tools: [tool], tool_choice: { type: 'function', name: 'g' } }, 'invalid_request tool_choice.name'],
  [{ stream: true, text: { format: { type: 'json_object' } } }, 'json_mode_no_stream text.format'],
  [{ reasoning: { effort: 'extreme' } }, 'reasoning_effort_not_supported reasoning.effort'],
  [{ model: 'acme/plain', tools: [tool] }, 'tools_not_supported tools'],
  [{ max_output_tokens: 9_000 }, 'context_length_exceeded input'],
  [{ max_output_tokens: 0 }, 'invalid_request max_output_tokens'],
])('refuses %j', (fields, expected) => {
  const { code, param } = refused(check(fields));
  expect(`${code} ${param}`).toBe(expected);
});

it('names the cap of the output as every format does', () => {
  const capped = validate(
    body({ max_output_tokens: 500 }),
    { maxOutputTokensCap: 100 },
    undefined,
    'responses',
  );
  expect(refused(capped)).toMatchObject({ code: 'max_tokens_exceeds_cap', param: 'max_tokens' });
});

it('keeps data of a call only if it is an object', () => {
  const encrypted = pack({ calls: { c1: 'text' as never, c2: { a: 1 } } });
  const call = { type: 'function_call', name: 'f', arguments: '{}' };
  const items: JsonObject[] = [
    { type: 'reasoning', summary: [], encrypted_content: encrypted },
    { ...call, call_id: 'c1' },
    { ...call, call_id: 'c2' },
  ];
  const [{ tool_calls: calls }] = messagesOf([...items, { role: 'user', content: 'Hello' }]) as [
    { tool_calls: JsonObject[] },
  ];
  expect(calls.map((each) => each['extra_content'])).toEqual([undefined, { a: 1 }]);
});
