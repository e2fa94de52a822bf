import type { MessageCreateParamsBase } from '@anthropic-ai/sdk/resources/messages/messages';
import { anthropic } from '.';

const CALL = {
  providerModel: 'claude-x',
  stream: false,
  maxOutputTokens: 100,
  n: 1,
  exactSeed: undefined,
  signer: 'aaaaaaaaaaaa',
  ownsUntagged: true,
  options: {
    maxTokensParameter: 'max_tokens',
    developerAsSystem: false,
    forwardReasoningContent: false,
    drops: [],
    reasoningBudgets: undefined,
    host: undefined,
  },
} as const;

async function encode(messages: readonly object[], rest: object = {}): Promise<MessageCreateParamsBase> {
  const body = Buffer.from(JSON.stringify({ messages, ...rest }));
  const bytes = await anthropic.encodeRequest(body, CALL, async () => undefined);
  return JSON.parse(Buffer.from(bytes).toString('utf8')) as MessageCreateParamsBase;
}

const text = (value: string, rest: object = {}) => ({ type: 'text', text: value, ...rest });
const user = (content: unknown, rest: object = {}) => ({ role: 'user', content, ...rest });
const called = (id: string, json: string, rest: object = {}) => ({
  id,
  type: 'function',
  function: { name: 'find', arguments: json },
  ...rest,
});

it('separates the system prompt and merges messages of the same role in sequence', async () => {
  const { system, messages } = await encode([
    { role: 'system', content: 'A' },
    { role: 'developer', content: [text('B'), text('C')] },
    user('1', { name: 'ann' }),
    user([text('2')]),
    { role: 'assistant', content: '3' },
    { role: 'assistant', content: '4' },
    { role: 'system', content: 'D' },
    user('5'),
  ]);
  expect(system).toEqual([text('A'), text('B'), text('C'), text('D')]);
  expect(messages).toEqual([
    { role: 'user', content: [text('1'), text('2')] },
    { role: 'assistant', content: [text('3'), text('4')] },
    { role: 'user', content: [text('5')] },
  ]);
});

it('sends instructions without a question as the question', async () => {
  const request = await encode([{ role: 'system', content: 'Write a poem' }]);
  expect(request).not.toHaveProperty('system');
  expect(request.messages).toEqual([{ role: 'user', content: [text('Write a poem')] }]);
});

it('leaves out empty text, which the provider refuses', async () => {
  const { messages } = await encode([
    user([text(' \n'), text('a')]),
    { role: 'assistant', content: '' },
    user(''),
    { role: 'assistant', content: 'b \n' },
  ]);
  expect(messages).toEqual([user([text('a')]), { role: 'assistant', content: [text('b')] }]);
  await expect(encode([user('  ')])).rejects.toMatchObject({ kind: 'rejected', param: 'messages' });
});

it('sends images of data URLs and links', async () => {
  const { messages } = await encode([
    user([
      { type: 'image_url', image_url: { url: 'data:image/png;base64,AAAA', detail: 'high' } },
      { type: 'image_url', image_url: { url: 'https://example.com/a.png' } },
    ]),
  ]);
  expect(messages[0]?.content).toEqual([
    { type: 'image', source: { type: 'base64', media_type: 'image/png', data: 'AAAA' } },
    { type: 'image', source: { type: 'url', url: 'https://example.com/a.png' } },
  ]);
});

it.each([
  [{ role: 'system', content: [{ type: 'image_url', image_url: { url: 'data:image/png;base64,AA' } }] }],
  [user([{ type: 'input_audio', input_audio: {} }])],
])('refuses content that cannot be expressed: %j', async (message) => {
  await expect(encode([user('a'), message])).rejects.toMatchObject({ kind: 'rejected', param: 'messages' });
});

it('sends tool calls and their results, results first in their turn', async () => {
  const { messages } = await encode([
    user('a'),
    {
      role: 'assistant',
      content: 'I look',
      tool_calls: [called('call:1', '{"q":"x"}', { extra_content: { google: {} } }), called('call_2', '')],
    },
    { role: 'tool', tool_call_id: 'call:1', content: 'found' },
    { role: 'tool', tool_call_id: 'call_2', content: '', is_error: true },
    user('and?'),
  ]);
  expect(messages.slice(1)).toEqual([
    {
      role: 'assistant',
      content: [
        text('I look'),
        { type: 'tool_use', id: 'call00000', name: 'find', input: { q: 'x' } },
        { type: 'tool_use', id: 'call_2', name: 'find', input: {} },
      ],
    },
    user([
      { type: 'tool_result', tool_use_id: 'call00000', content: [text('found')] },
      { type: 'tool_result', tool_use_id: 'call_2', is_error: true },
      text('and?'),
    ]),
  ]);
});

it('sends refusals of earlier turns as text, and drops reasoning without a signature', async () => {
  const { messages } = await encode([
    user('a'),
    {
      role: 'assistant',
      content: [{ type: 'refusal', refusal: 'No' }],
      refusal: 'Never',
      reasoning_content: 'hm',
      reasoning_details: [{ type: 'reasoning.text', index: 0, text: 'hm' }],
    },
    user('b'),
  ]);
  expect(messages[1]?.content).toEqual([text('No'), text('Never')]);
});

describe('thinking of earlier turns', () => {
  async function sent(details: readonly object[]): Promise<unknown> {
    const reply = { role: 'assistant', content: 'b', reasoning_details: details };
    const { messages } = await encode([user('a'), reply, user('c')]);
    return (messages[1]?.content as unknown[]).slice(0, -1);
  }

  it('is sent unchanged and in order, with its signature', async () => {
    expect(
      await sent([
        { type: 'reasoning.text', index: 0, text: 'one', signature: 's1' },
        { type: 'reasoning.encrypted', index: 1, data: 'secret' },
        // The text was omitted by the provider.
        { type: 'reasoning.text', index: 2, text: '', signature: 's2' },
      ]),
    ).toEqual([
      { type: 'thinking', thinking: 'one', signature: 's1' },
      { type: 'redacted_thinking', data: 'secret' },
      { type: 'thinking', thinking: '', signature: 's2' },
    ]);
  });

  it('is joined from parts of the same index', async () => {
    expect(
      await sent([
        { type: 'reasoning.text', index: 0, text: 'on' },
        { type: 'reasoning.text', index: 0, text: 'e' },
        { type: 'reasoning.text', index: 0, signature: 's1' },
        { type: 'reasoning.text', index: 1, text: 'two', signature: 's2' },
      ]),
    ).toEqual([
      { type: 'thinking', thinking: 'one', signature: 's1' },
      { type: 'thinking', thinking: 'two', signature: 's2' },
    ]);
  });

  it('is omitted without a signature, of other types, and alone in a turn', async () => {
    expect(
      await sent([{ type: 'reasoning.text', index: 0, text: 'x' }, { type: 'reasoning.summary' }]),
    ).toEqual([]);
    const alone = {
      role: 'assistant',
      content: '',
      reasoning_details: [{ type: 'reasoning.encrypted', data: 'd' }],
    };
    expect((await encode([user('a'), alone])).messages).toEqual([user([text('a')])]);
  });
});

describe('cache points', () => {
  const point = { cache_control: { type: 'ephemeral' } };
  const hour = { cache_control: { type: 'ephemeral', ttl: '1h' } };
  const tool = { type: 'function', function: { name: 'find' } };

  it('of parts, tools and calls are sent, with their lifetime; that of a part of a tool result is that of the result', async () => {
    const request = await encode(
      [
        { role: 'system', content: [text('A', hour)] },
        user([text('1'), text('2', point)]),
        { role: 'assistant', tool_calls: [{ ...called('c', '{}'), ...hour }] },
        { role: 'tool', tool_call_id: 'c', content: [text('x', point), text('y')] },
      ],
      { tools: [{ ...tool, ...hour }] },
    );
    expect(request.tools?.[0]).toHaveProperty('cache_control', hour.cache_control);
    expect(request.system).toEqual([text('A', hour)]);
    expect(request.messages[0]?.content).toEqual([text('1'), text('2', point)]);
    expect(request.messages[1]?.content).toMatchObject([{ type: 'tool_use', id: 'c', ...hour }]);
    expect(request.messages[2]?.content).toEqual([
      { type: 'tool_result', tool_use_id: 'c', content: [text('x'), text('y')], ...point },
    ]);
  });
});
