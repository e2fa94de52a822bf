import { readFileSync } from 'node:fs';
import { pdfDocument, type Tenant } from '@gateway/test-support';
import { openApiFile, sendRequest } from './testing/api-document';
import { writeModelsOfAllDialects } from './testing/dialect-models';
import { modelPrefixOf, otherDialects } from './testing/dialects';
import { pngDataUri } from './testing/png';
import { SchemaSamples, type ApiSchema } from './testing/schema-samples';
import { startTestEnv, type TestEnv } from './testing/test-env';

jest.setTimeout(300_000);

interface Message {
  readonly role: string;
  readonly tool_calls?: readonly { readonly id: string }[];
}

const CHAT = 'POST /v1/chat/completions';
const CONCURRENCY = 8;
const demoModels = ['demo/standard', 'demo/vision'];
const models = [...demoModels, ...otherDialects.map((dialect) => `${modelPrefixOf(dialect)}vision`)];

const document = JSON.parse(readFileSync(openApiFile, 'utf8')) as {
  components: { schemas: { ChatCompletionRequest: Required<Pick<ApiSchema, 'properties'>> } };
};
const { messages, ...fields } = document.components.schemas.ChatCompletionRequest.properties;
const pdf = `data:application/pdf;base64,${pdfDocument().toString('base64')}`;
const samples = new SchemaSamples(document, ['get_weather', pngDataUri(8, 8), pdf, '7']);
const question = { role: 'user', content: 'Hello' };
const tools = [{ type: 'function', function: { name: 'get_weather' } }];
/** The model's id, and what needs a permission, a capability or a level that these models lack. */
const NOT_FOR_DEMO_MODELS = ['model', 'n', 'logprobs', 'top_logprobs', 'reasoning_effort'];
/** What a field requires of others. */
const contexts: Readonly<Record<string, object>> = {
  tool_choice: { tools },
  parallel_tool_calls: { tools },
  stream_options: { stream: true },
};

function conversationWith(message: Message): readonly object[] {
  const call = { id: 'get_weather', type: 'function', function: { name: 'get_weather', arguments: '{}' } };
  const calls = message.tool_calls ?? [];
  const needsContent = message.role === 'assistant' && calls.length === 0 && !('refusal' in message);
  return [
    question,
    ...(message.role === 'tool' ? [{ role: 'assistant', content: null, tool_calls: [call] }] : []),
    { ...(needsContent ? { content: 'Hello' } : {}), ...message },
    ...calls.map(({ id }) => ({ role: 'tool', tool_call_id: id, content: '12 degrees' })),
    question,
  ];
}

const unique = (bodies: readonly object[]): readonly object[] => [
  ...new Map(bodies.map((body) => [JSON.stringify(body), body])).values(),
];

const bodies = unique([
  ...samples.of(messages?.items ?? {}).map((message) => ({ messages: conversationWith(message as Message) })),
  ...Object.entries(fields)
    .filter(([name]) => !NOT_FOR_DEMO_MODELS.includes(name))
    .flatMap(([name, schema]) => samples.of(schema).map((value) => ({ ...contexts[name], [name]: value }))),
]);

describe('the model emulator', () => {
  let testEnv: TestEnv;
  let tenant: Tenant;

  beforeAll(async () => {
    testEnv = await startTestEnv(writeModelsOfAllDialects());
    tenant = await testEnv.tenant({
      credit: '1000',
      limits: { requests_per_minute: 100_000, tokens_per_minute: 100_000_000 },
    });
  });
  afterAll(() => testEnv?.stop());

  it('accepts every shape of a request that the gateway accepts, in every dialect', async () => {
    const cases = models.flatMap((model) => bodies.map((body) => ({ model, body })));
    const accepted = new Set<object>();
    const run = async () => {
      for (let next = cases.pop(); next; next = cases.pop()) {
        const { model, body } = next;
        const limit = 'max_completion_tokens' in body ? {} : { max_tokens: 9 };
        const sent = { model, messages: [question], ...limit, ...body };
        const { status } = await sendRequest(testEnv.gateway.baseUrl, tenant.apiKey, CHAT, { body: sent });
        if (status === 200 && demoModels.includes(model)) accepted.add(body);
      }
    };
    await Promise.all(Array.from({ length: CONCURRENCY }, run));

    const stats = await fetch(new URL('/_emulator/stats', testEnv.emulatorUrl));
    const { by_status } = (await stats.json()) as { by_status: Record<string, number> };
    // What a dialect cannot express is refused before the provider is called.
    expect(by_status).toEqual({ 200: expect.any(Number) });
    expect(bodies.filter((body) => !accepted.has(body))).toEqual([]);
  });
});
