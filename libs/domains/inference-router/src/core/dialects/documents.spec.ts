import { dialects } from './registry';

const PDF = 'data:application/pdf;base64,JVBERi0=';
const part = (filename: string) => ({ type: 'file', file: { file_data: PDF, filename } });
const call = { id: 'c', type: 'function', function: { name: 'read', arguments: '{}' } };
const tools = [{ type: 'function', function: { name: 'read', parameters: { type: 'object' } } }];
const options = {
  maxTokensParameter: 'max_tokens',
  developerAsSystem: false,
  forwardReasoningContent: true,
  host: undefined,
  drops: [],
  reasoningBudgets: undefined,
} as const;

type Name = keyof typeof dialects;

async function sent(
  name: Name,
  messages: readonly object[],
  vendor?: 'openai',
  providerModel = 'anthropic.claude-1',
) {
  const dialectCall = {
    ...{ providerModel, stream: false, maxOutputTokens: 10, n: 1, exactSeed: undefined },
    ...{ signer: 'signer', ownsUntagged: true, options: { ...options, vendor } },
  };
  const body = Buffer.from(JSON.stringify({ messages, tools }));
  const encoded = await dialects[name].encodeRequest(body, dialectCall, () => Promise.resolve());
  return JSON.parse(Buffer.from(encoded).toString()) as Record<string, never>;
}

const user = { role: 'user', content: [part('A  (1)_é.pdf')] };
const document = { format: 'pdf', source: { bytes: 'JVBERi0=' } };

it.each<[Name, string, unknown]>([
  ['openai', 'messages', [user]],
  [
    'anthropic',
    'messages',
    [
      {
        role: 'user',
        content: [
          {
            type: 'document',
            source: { type: 'base64', media_type: 'application/pdf', data: 'JVBERi0=' },
            title: 'A  (1)_é.pdf',
          },
        ],
      },
    ],
  ],
  [
    'gemini',
    'contents',
    [{ role: 'user', parts: [{ inlineData: { mimeType: 'application/pdf', data: 'JVBERi0=' } }] }],
  ],
  [
    'converse',
    'messages',
    [{ role: 'user', content: [{ text: 'A (1)--' }, { document: { ...document, name: 'A (1)--' } }] }],
  ],
])('%s reads a document in its own form', async (name, field, expected) => {
  expect((await sent(name, [user]))[field]).toEqual(expected);
});

it('documents have different names on Bedrock, also those of results', async () => {
  const { messages } = await sent('converse', [
    { role: 'user', content: [part('a.pdf'), part('a.pdf'), { type: 'text', text: 'Look' }] },
    { role: 'assistant', tool_calls: [call] },
    { role: 'tool', tool_call_id: 'c', content: [part('a.pdf')] },
  ]);
  const names = [...JSON.stringify(messages).matchAll(/"name":"(a[^"]*)"/g)].map(([, name]) => name);
  expect(names).toEqual(['a', 'a (2)', 'a (3)']);
});

it.each<[string, Name, 'openai' | undefined, string]>([
  ['OpenAI', 'openai', 'openai', 'gpt-1'],
  ['other models of Bedrock', 'converse', undefined, 'meta.llama-1'],
])('the document of a result follows it for %s', async (_vendor, name, vendor, providerModel) => {
  const messages = [
    { role: 'user', content: 'hi' },
    { role: 'assistant', tool_calls: [call] },
    { role: 'tool', tool_call_id: 'c', content: [part('a.pdf')] },
  ];
  const text = JSON.stringify(await sent(name, messages, vendor, providerModel));
  expect(text.indexOf('JVBERi0=')).toBeGreaterThan(text.indexOf('The result is a document, which follows.'));
  expect(text).toContain('The result is a document, which follows.');
});

it.each<Name>(['anthropic', 'gemini', 'converse'])('%s refuses a document of instructions', async (name) => {
  const messages = [
    { role: 'system', content: [part('a.pdf')] },
    { role: 'user', content: 'hi' },
  ];
  await expect(sent(name, messages)).rejects.toMatchObject({ kind: 'rejected' });
});
