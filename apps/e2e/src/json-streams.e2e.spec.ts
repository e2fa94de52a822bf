import Anthropic from '@anthropic-ai/sdk';
import { createOpenAI } from '@ai-sdk/openai';
import type { Tenant } from '@gateway/test-support';
import { jsonSchema, streamObject } from 'ai';
import type OpenAI from 'openai';
import { nothingReserved, usageOnceAllCharged } from './testing/accounting';
import { modelsByDialect, WHOLE_JSON_MODEL, writeModelsOfAllDialects } from './testing/dialect-models';
import { startTestEnv, type TestEnv } from './testing/test-env';

jest.setTimeout(180_000);

const SCHEMA = {
  type: 'object' as const,
  properties: { city: { type: 'string' as const } },
  required: ['city'],
  additionalProperties: false,
};
const PLACE = { city: expect.any(String) };
const QUESTION = 'Which city?';
const CODE = 'json_mode_no_stream';
const REFUSED = { status: 400, code: CODE };

const models = {
  ...modelsByDialect('standard'),
  'a provider that does not stream JSON': WHOLE_JSON_MODEL,
};

let testEnv: TestEnv;

beforeAll(async () => {
  const { modelsFile, env } = writeModelsOfAllDialects();
  testEnv = await startTestEnv({
    modelsFile,
    env: { ...env, GATEWAY_ENDPOINTS: 'chat,messages,responses' },
  });
});

afterAll(() => testEnv?.stop());

/** The helpers of unmodified SDKs for structured output, which stream it. */
describe.each(Object.entries(models))('structured output that is streamed, over %s', (_, model) => {
  let tenant: Tenant;
  /** A key that allows JSON in streams. */
  let jsonKey: string;

  beforeAll(async () => {
    tenant = await testEnv.tenant();
    ({ apiKey: jsonKey } = await tenant.createKey({ json_streaming: true }));
  });

  /** What was charged is what the usage says, to the nano-dollar, and nothing is reserved. */
  afterEach(async () => {
    const { baseUrl } = testEnv.gateway;
    await nothingReserved(baseUrl, tenant.apiKey);
    await usageOnceAllCharged(baseUrl, tenant.apiKey);
  });

  it('reaches the SDK of Anthropic', async () => {
    const run = (authToken: string) => {
      const baseURL = new URL(testEnv.gateway.baseUrl).origin;
      const client = new Anthropic({ baseURL, authToken, apiKey: null, maxRetries: 0 });
      return client.messages
        .stream({
          ...{ model, max_tokens: 200, messages: [{ role: 'user', content: QUESTION }] },
          output_config: { format: { type: 'json_schema', schema: SCHEMA } },
        })
        .finalText();
    };
    await expect(run(tenant.apiKey)).rejects.toMatchObject({ status: 400, error: { error: { code: CODE } } });
    expect(JSON.parse(await run(jsonKey))).toEqual(PLACE);
  });

  it('reaches the responses of the openai SDK, which say the format', async () => {
    const format = { type: 'json_schema' as const, name: 'place', schema: SCHEMA, strict: true };
    const run = (apiKey: string): Promise<OpenAI.Responses.Response> =>
      testEnv.client(apiKey).responses.stream({ model, input: QUESTION, text: { format } }).finalResponse();
    await expect(run(tenant.apiKey)).rejects.toMatchObject(REFUSED);
    const { output_text: text, text: settings } = await run(jsonKey);
    expect(JSON.parse(text)).toEqual(PLACE);
    expect(settings?.format).toMatchObject(format);
  });

  it('reaches chat completions of the openai SDK', async () => {
    const run = (apiKey: string) =>
      testEnv
        .client(apiKey)
        .chat.completions.stream({
          ...{ model, max_tokens: 200, messages: [{ role: 'user', content: QUESTION }] },
          response_format: {
            type: 'json_schema',
            json_schema: { name: 'place', schema: SCHEMA, strict: true },
          },
        })
        .finalContent();
    await expect(run(tenant.apiKey)).rejects.toMatchObject(REFUSED);
    expect(JSON.parse((await run(jsonKey)) ?? '')).toEqual(PLACE);
  });

  it('reaches the AI SDK in its default mode', async () => {
    const errors: unknown[] = [];
    const run = (apiKey: string) =>
      streamObject({
        model: createOpenAI({ baseURL: testEnv.gateway.baseUrl, apiKey })(model),
        prompt: QUESTION,
        schema: jsonSchema(SCHEMA),
        onError: ({ error }) => void errors.push(error),
      });
    const refused = run(tenant.apiKey);
    refused.object.catch(() => undefined);
    for await (const part of refused.fullStream) void part;
    expect(errors).toMatchObject([{ statusCode: 400 }]);
    const { object, partialObjectStream } = run(jsonKey);
    for await (const part of partialObjectStream) void part;
    expect(await object).toEqual(PLACE);
  });
});
