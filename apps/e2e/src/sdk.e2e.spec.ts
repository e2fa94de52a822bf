import OpenAI from 'openai';
import {
  credits,
  expectedCostNanoUsd,
  nano,
  nothingReserved,
  pricingOf,
  settledGeneration,
  usageOnceAllCharged,
  type PublicUsage,
} from './testing/accounting';
import { isClusterDeployment, type Tenant } from '@gateway/test-support';
import { writeModelsOfAllDialects } from './testing/dialect-models';
import { modelPrefixOf, otherDialects } from './testing/dialects';
import { pngDataUri } from './testing/png';
import { joinTestEnv, type SharedTestEnv } from './testing/test-env';

jest.setTimeout(120_000);

interface ListedModel {
  id: string;
  capabilities: string[];
  reasoning?: { supported_efforts: string[] };
}

let testEnv: SharedTestEnv;

beforeAll(async () => {
  testEnv = await joinTestEnv(writeModelsOfAllDialects());
});

afterAll(() => testEnv?.stop());

/** The shared cluster has only the models of the repository. */
const dialects = isClusterDeployment() ? (['openai'] as const) : (['openai', ...otherDialects] as const);

describe.each(dialects)('the official openai Node SDK, unmodified, dialect %s', (dialect) => {
  let tenant: Tenant;
  let client: OpenAI;
  let models: ListedModel[];

  const modelWith = (...capabilities: string[]): ListedModel => {
    // A reasoning model spends its tokens on reasoning first, so it is used only on request.
    const found = models.find(
      (model) =>
        capabilities.every((one) => model.capabilities.includes(one)) &&
        (capabilities.includes('reasoning') || !model.capabilities.includes('reasoning')),
    );
    if (!found) throw new Error(`no model with ${capabilities.join(', ')}`);
    return found;
  };

  beforeAll(async () => {
    tenant = await testEnv.tenant({ limits: { max_output_tokens: 1000 } });
    client = testEnv.client(tenant.apiKey);
    const listed = (await client.models.list()).data as unknown as ListedModel[];
    const prefix = dialect === 'openai' ? 'demo/' : modelPrefixOf(dialect);
    models = listed.filter(({ id }) => id.startsWith(prefix));
  });

  /** Runs one generation and checks that its cost follows exactly from its usage and the price list. */
  async function expectExactCost(
    model: string,
    run: () => Promise<{ id: string; usage: PublicUsage | undefined }>,
  ): Promise<void> {
    const before = await nothingReserved(testEnv.gateway.baseUrl, tenant.apiKey);
    const { id, usage } = await run();
    const generation = await settledGeneration(testEnv.gateway.baseUrl, tenant.apiKey, id);
    const after = await credits(testEnv.gateway.baseUrl, tenant.apiKey);
    const pricing = await pricingOf(testEnv.gateway.baseUrl, tenant.apiKey, model);

    const tokens: PublicUsage = usage ?? {
      prompt_tokens: generation.tokens_prompt,
      completion_tokens: generation.tokens_completion,
      prompt_tokens_details: {
        cached_tokens: generation.native_tokens_cached,
        cache_write_tokens: generation.native_tokens_cache_write,
      },
      completion_tokens_details: { reasoning_tokens: generation.native_tokens_reasoning },
    };
    const cost = expectedCostNanoUsd(tokens, pricing);
    expect(cost).toBeGreaterThan(0n);
    expect(nano(generation.total_cost)).toBe(cost);
    expect(nano(before.available) - nano(after.available)).toBe(cost);
    expect(generation.tokens_prompt).toBe(tokens.prompt_tokens);
    expect(generation.tokens_completion).toBe(tokens.completion_tokens);
    if (usage?.cost !== undefined) expect(nano(usage.cost)).toBe(cost);
  }

  it('lists its models, none of them disabled', async () => {
    expect(models.length).toBeGreaterThanOrEqual(dialect === 'openai' ? 4 : 3);
    expect(models.map(({ id }) => id)).toEqual([...models.map(({ id }) => id)].sort());
    const page = await client.models.list();
    expect(page.object).toBe('list');
  });

  it('completes, and the cost is exact', async () => {
    const model = modelWith().id;
    await expectExactCost(model, async () => {
      const { data, response } = await client.chat.completions
        .create({ model, messages: [{ role: 'user', content: 'Say something.' }], max_tokens: 40 })
        .withResponse();
      expect(data.object).toBe('chat.completion');
      expect(data.model).toBe(model);
      expect(data.id).toMatch(/^gen-/);
      expect(data.choices[0]?.message.content).toEqual(expect.stringMatching(/\S/));
      expect(['stop', 'length']).toContain(data.choices[0]?.finish_reason);
      expect(response.headers.get('x-generation-id')).toBe(data.id);
      expect(response.headers.get('x-request-id')).toMatch(/^req_/);
      return { id: data.id, usage: data.usage };
    });
  });

  it.each([true, false])('streams with include_usage %s, and the cost is exact', async (includeUsage) => {
    const model = modelWith().id;
    await expectExactCost(model, async () => {
      const stream = await client.chat.completions.create({
        model,
        messages: [{ role: 'user', content: 'Tell me a story.' }],
        max_tokens: 60,
        stream: true,
        ...(includeUsage ? { stream_options: { include_usage: true } } : {}),
      });
      let id = '';
      let text = '';
      let usage: PublicUsage | undefined;
      const finishReasons: string[] = [];
      for await (const chunk of stream) {
        id = chunk.id;
        text += chunk.choices[0]?.delta.content ?? '';
        if (chunk.choices[0]?.finish_reason) finishReasons.push(chunk.choices[0].finish_reason);
        if (!includeUsage) {
          expect(chunk.choices).toHaveLength(1);
          expect('usage' in chunk).toBe(false);
        } else {
          expect('usage' in chunk).toBe(true);
          if (chunk.usage) usage = chunk.usage;
        }
        expect('error' in chunk).toBe(false);
      }
      expect(text).toMatch(/\S/);
      expect(finishReasons).toHaveLength(1);
      expect(usage === undefined).toBe(!includeUsage);
      return { id, usage };
    });
  });

  it.each([
    ['calls a tool', []],
    ['reasons, calls a tool', ['reasoning']],
  ])('%s and accepts its result', async (_, more) => {
    const model = modelWith('tools', ...more).id;
    const effort = more.length > 0 ? ({ reasoning_effort: 'low' } as const) : {};
    const tools: OpenAI.ChatCompletionTool[] = [
      {
        type: 'function',
        function: {
          name: 'get_weather',
          description: 'The weather in a city',
          parameters: { type: 'object', properties: { city: { type: 'string' } }, required: ['city'] },
        },
      },
    ];
    const messages: OpenAI.ChatCompletionMessageParam[] = [
      { role: 'user', content: 'What is the weather in Berlin?' },
    ];
    await expectExactCost(model, async () => {
      const first = await client.chat.completions.create({
        model,
        messages,
        tools,
        max_tokens: 200,
        ...effort,
      });
      const call = first.choices[0]?.message.tool_calls?.[0];
      if (call?.type !== 'function') throw new Error('no tool call');
      expect(first.choices[0]?.finish_reason).toBe('tool_calls');
      expect(first.choices[0]?.message.content).toBeNull();
      expect(call.function.name).toBe('get_weather');
      expect(JSON.parse(call.function.arguments)).toEqual({ city: expect.any(String) });
      messages.push(first.choices[0]!.message, {
        role: 'tool',
        tool_call_id: call.id,
        content: '12 degrees',
      });
      return { id: first.id, usage: first.usage };
    });
    await expectExactCost(model, async () => {
      const second = await client.chat.completions.create({
        model,
        messages,
        tools,
        max_tokens: 200,
        ...effort,
      });
      expect(second.choices[0]?.message.content).toEqual(expect.stringMatching(/\S/));
      return { id: second.id, usage: second.usage };
    });
  });

  it('streams a tool call that the SDK assembles', async () => {
    const stream = client.chat.completions.stream({
      model: modelWith('tools').id,
      messages: [{ role: 'user', content: 'What is the weather in Paris?' }],
      max_tokens: 200,
      tools: [
        {
          type: 'function',
          function: {
            name: 'get_weather',
            parameters: { type: 'object', properties: { city: { type: 'string' } }, required: ['city'] },
          },
        },
      ],
    });
    const completion = await stream.finalChatCompletion();
    const call = completion.choices[0]?.message.tool_calls?.[0];
    if (call?.type !== 'function') throw new Error('no tool call');
    expect(JSON.parse(call.function.arguments)).toEqual({ city: expect.any(String) });
  });

  it('accepts an inline image', async () => {
    const model = modelWith('vision').id;
    await expectExactCost(model, async () => {
      const completion = await client.chat.completions.create({
        model,
        max_tokens: 60,
        messages: [
          {
            role: 'user',
            content: [
              { type: 'text', text: 'What is this?' },
              { type: 'image_url', image_url: { url: pngDataUri(64, 48) } },
            ],
          },
        ],
      });
      expect(completion.choices[0]?.message.content).toEqual(expect.stringMatching(/\S/));
      return { id: completion.id, usage: completion.usage };
    });
  });

  it('returns JSON in a JSON format', async () => {
    const { id: model, capabilities } = modelWith('structured_outputs');
    const schema = { type: 'object', properties: { a: { type: 'string' } }, required: ['a'] };
    await expectExactCost(model, async () => {
      const completion = await client.chat.completions.create({
        model,
        max_tokens: 200,
        messages: [{ role: 'user', content: 'Give me JSON.' }],
        response_format: capabilities.includes('json_mode')
          ? { type: 'json_object' }
          : { type: 'json_schema', json_schema: { name: 'a', schema } },
      });
      expect(JSON.parse(completion.choices[0]?.message.content ?? '')).toEqual(expect.any(Object));
      return { id: completion.id, usage: completion.usage };
    });
  });

  it('accepts a reasoning effort, and charges reasoning tokens exactly', async () => {
    const model = modelWith('reasoning');
    await expectExactCost(model.id, async () => {
      const completion = await client.chat.completions.create({
        model: model.id,
        max_completion_tokens: 500,
        messages: [{ role: 'user', content: 'Think.' }],
        reasoning_effort: model.reasoning?.supported_efforts[0] as 'low',
      });
      expect(completion.choices[0]?.message).toMatchObject({
        reasoning_content: expect.stringMatching(/\S/),
      });
      const { reasoning_tokens: tokens = 0 } = completion.usage?.completion_tokens_details ?? {};
      // Bedrock does not report them.
      expect(tokens > 0).toBe(dialect !== 'converse');
      return { id: completion.id, usage: completion.usage };
    });
  });

  it('raises the right class with code, param and type for each kind of error', async () => {
    const failureOf = (body: object, as: OpenAI = client) =>
      as.chat.completions
        .create({ model: modelWith().id, messages: [{ role: 'user', content: 'x' }], ...body } as never)
        .then(
          () => undefined,
          (error: unknown) => error as InstanceType<typeof OpenAI.APIError>,
        );

    const unknownParameter = await failureOf({ foo: 1 });
    expect(unknownParameter).toBeInstanceOf(OpenAI.BadRequestError);
    expect(unknownParameter).toMatchObject({
      status: 400,
      code: 'unknown_parameter',
      param: 'foo',
      type: 'invalid_request_error',
    });

    const unknownKey = await failureOf({}, testEnv.client('sk-gw-unknown'));
    expect(unknownKey).toBeInstanceOf(OpenAI.AuthenticationError);
    expect(unknownKey).toMatchObject({
      status: 401,
      code: 'invalid_api_key',
      type: 'authentication_error',
    });

    const unknownModel = await failureOf({ model: 'no/such-model' });
    expect(unknownModel).toBeInstanceOf(OpenAI.NotFoundError);
    expect(unknownModel).toMatchObject({ status: 404, code: 'model_not_found', type: 'not_found_error' });

    const { apiKey } = await tenant.createKey({ scopes: ['usage:read'] });
    const scope = await failureOf({}, testEnv.client(apiKey));
    expect(scope).toBeInstanceOf(OpenAI.PermissionDeniedError);
    expect(scope).toMatchObject({ status: 403, code: 'missing_scope', type: 'permission_error' });
    expect(scope?.message).toContain('chat');

    const capped = await failureOf({ max_tokens: 1001 });
    expect(capped).toBeInstanceOf(OpenAI.BadRequestError);
    expect(capped).toMatchObject({ code: 'max_tokens_exceeds_cap', param: 'max_tokens' });
    expect(capped?.message).toContain('1000');
  });

  it('returns usage that adds up to the nano-dollar', async () => {
    const usage = await usageOnceAllCharged(testEnv.gateway.baseUrl, tenant.apiKey);
    const now = await credits(testEnv.gateway.baseUrl, tenant.apiKey);
    const sum = usage.data.reduce((total, row) => total + nano(row.total_cost), 0n);
    expect(sum).toBe(nano(usage.totals.total_cost));
    expect(sum).toBe(nano(now.total_usage));
    expect(nano(now.balance)).toBe(nano(now.total_credits) - nano(now.total_usage));
    expect(usage.totals.requests).toBeGreaterThanOrEqual(9);
  });
});
