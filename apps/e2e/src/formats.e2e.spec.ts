import Anthropic from '@anthropic-ai/sdk';
import { createOpenAI } from '@ai-sdk/openai';
import { generateText, jsonSchema, stepCountIs, streamText, tool } from 'ai';
import type OpenAI from 'openai';
import type { Tenant } from '@gateway/test-support';
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
import { writeModelsOfAllDialects } from './testing/dialect-models';
import { modelPrefixOf, otherDialects } from './testing/dialects';
import { startTestEnv, type TestEnv } from './testing/test-env';

jest.setTimeout(180_000);

let testEnv: TestEnv;

beforeAll(async () => {
  const { modelsFile, env } = writeModelsOfAllDialects();
  testEnv = await startTestEnv({
    modelsFile,
    env: { ...env, GATEWAY_ENDPOINTS: 'chat,messages,responses', GATEWAY_DROP_HOSTED_TOOLS: 'true' },
  });
});

afterAll(() => testEnv?.stop());

const schema = {
  type: 'object' as const,
  properties: { city: { type: 'string' } },
  required: ['city'],
  additionalProperties: false,
};
const QUESTION = 'How is the weather? [[calls:2]]';

describe.each(['openai', ...otherDialects] as const)('over the dialect %s', (dialect) => {
  let tenant: Tenant;
  let anthropic: Anthropic;
  let openai: OpenAI;
  const modelOf = (name: string) =>
    dialect === 'openai' ? `demo/${name}` : `${modelPrefixOf(dialect)}${name}`;
  const model = modelOf('standard');
  const reasoner = modelOf('reasoner');

  beforeAll(async () => {
    tenant = await testEnv.tenant();
    const { baseUrl } = testEnv.gateway;
    const origin = new URL(baseUrl).origin;
    anthropic = new Anthropic({ baseURL: origin, authToken: tenant.apiKey, apiKey: null, maxRetries: 0 });
    openai = testEnv.client(tenant.apiKey);
  });

  /** After everything that ran: what was charged is what the usage says, to the nano-dollar, and nothing is reserved. */
  afterEach(async () => {
    const { baseUrl } = testEnv.gateway;
    await nothingReserved(baseUrl, tenant.apiKey);
    await usageOnceAllCharged(baseUrl, tenant.apiKey);
  });

  async function expectCharged(id: string, usage: PublicUsage, of = model): Promise<void> {
    const { baseUrl } = testEnv.gateway;
    const generation = await settledGeneration(baseUrl, tenant.apiKey, id);
    const cost = expectedCostNanoUsd(usage, await pricingOf(baseUrl, tenant.apiKey, of));
    expect(cost).toBeGreaterThan(0n);
    expect(nano(generation.total_cost)).toBe(cost);
    expect(nano(usage.cost ?? 0)).toBe(cost);
    expect(generation.tokens_prompt).toBe(usage.prompt_tokens);
  }

  const ofMessage = (usage: Anthropic.Usage): PublicUsage => {
    const { cache_read_input_tokens: cached, cache_creation_input_tokens: written } = usage;
    return {
      prompt_tokens: usage.input_tokens + (cached ?? 0) + (written ?? 0),
      completion_tokens: usage.output_tokens,
      prompt_tokens_details: { cached_tokens: cached ?? 0, cache_write_tokens: written ?? 0 },
      completion_tokens_details: { reasoning_tokens: usage.output_tokens_details?.thinking_tokens ?? 0 },
      cost: (usage as { cost?: number }).cost ?? 0,
    };
  };
  const ofResponse = (usage: OpenAI.Responses.ResponseUsage | undefined): PublicUsage => ({
    prompt_tokens: usage?.input_tokens ?? 0,
    completion_tokens: usage?.output_tokens ?? 0,
    prompt_tokens_details: usage?.input_tokens_details ?? {},
    completion_tokens_details: usage?.output_tokens_details ?? {},
    cost: (usage as { cost?: number } | undefined)?.cost ?? 0,
  });

  describe('the SDK of Anthropic, unmodified', () => {
    const ask = (content: string, more: Partial<Anthropic.MessageCreateParamsNonStreaming> = {}) => ({
      model,
      max_tokens: 200,
      messages: [{ role: 'user' as const, content }],
      ...more,
    });

    it('gets a message, and the cost is exact', async () => {
      const message = await anthropic.messages.create(ask('Say something.', { system: 'Be brief.' }));
      expect(message).toMatchObject({ type: 'message', role: 'assistant', model, stop_reason: 'end_turn' });
      expect(message.content[0]).toMatchObject({ type: 'text', text: expect.stringMatching(/\S/) as string });
      expect(message._request_id).toMatch(/^req_/);
      await expectCharged(message.id, ofMessage(message.usage));
    });

    it('streams the same message, and the cost is exact', async () => {
      const body = ask('Tell me a story. [[tokens:50]]');
      const whole = await anthropic.messages.create(body);
      const stream = anthropic.messages.stream(body);
      const streamed = await stream.finalMessage();
      expect(streamed.content).toEqual(whole.content);
      expect(streamed.stop_reason).toBe(whole.stop_reason);
      await expectCharged(streamed.id, { ...ofMessage(streamed.usage), cost: ofMessage(whole.usage).cost! });
    });

    it.each([true, false])('finishes a tool loop with thinking, streamed %s', async (isStreamed) => {
      const messages: Anthropic.MessageParam[] = [{ role: 'user', content: QUESTION }];
      const body = (): Anthropic.MessageCreateParamsNonStreaming => ({
        model: reasoner,
        max_tokens: 4_000,
        messages,
        tools: [{ name: 'get_weather', input_schema: schema }],
        thinking: { type: 'enabled', budget_tokens: 2_000 },
      });
      const run = () =>
        isStreamed ? anthropic.messages.stream(body()).finalMessage() : anthropic.messages.create(body());
      const first = await run();
      expect(first.stop_reason).toBe('tool_use');
      const calls = first.content.filter((block) => block.type === 'tool_use');
      expect(calls).toHaveLength(2);
      expect(first.content.some(({ type }) => type === 'thinking')).toBe(true);
      messages.push(
        { role: 'assistant', content: first.content },
        {
          role: 'user',
          content: calls.map(({ id }, index) => ({
            type: 'tool_result' as const,
            tool_use_id: id,
            content: index === 0 ? '12 degrees' : 'no such city',
            is_error: index === 1,
          })),
        },
      );
      const second = await run();
      expect(second.stop_reason).toBe('end_turn');
      expect(second.content.some(({ type }) => type === 'text')).toBe(true);
      // Providers verify the signatures of the whole conversation.
      messages.push(
        { role: 'assistant', content: second.content },
        { role: 'user', content: 'Thanks. [[calls:0]]' },
      );
      expect((await run()).stop_reason).toBe('end_turn');
      await expectCharged(first.id, { ...ofMessage(first.usage), ...(await costOf(first.id)) }, reasoner);
      await expectCharged(second.id, { ...ofMessage(second.usage), ...(await costOf(second.id)) }, reasoner);
    });

    it('caches what it marks, where the provider caches at marks', async () => {
      const long = `${dialect} ${'The rules of the house are long. '.repeat(400)}`;
      const body = ask('And now?', {
        system: [{ type: 'text', text: long, cache_control: { type: 'ephemeral' } }],
      });
      const first = await anthropic.messages.create(body);
      const second = await anthropic.messages.create(body);
      if (dialect === 'anthropic' || dialect === 'converse') {
        expect(first.usage.cache_creation_input_tokens).toBeGreaterThan(1_000);
        expect(second.usage.cache_read_input_tokens).toBe(first.usage.cache_creation_input_tokens);
      }
      await expectCharged(first.id, ofMessage(first.usage));
      await expectCharged(second.id, ofMessage(second.usage));
    });

    it('ends at a stop sequence, and names it where the provider does', async () => {
      const message = await anthropic.messages.create(
        ask('[[say:one END two]]', { stop_sequences: ['END'] }),
      );
      expect(message.content).toMatchObject([
        { type: 'text', text: expect.stringMatching(/^one ?$/) as string },
      ]);
      const isNamed = dialect === 'anthropic' || dialect === 'converse';
      expect([message.stop_reason, message.stop_sequence]).toEqual(
        isNamed ? ['stop_sequence', 'END'] : ['end_turn', null],
      );
    });

    it('counts tokens at no cost', async () => {
      const { baseUrl } = testEnv.gateway;
      const before = await credits(baseUrl, tenant.apiKey);
      const counted = await anthropic.messages.countTokens({
        model,
        messages: [{ role: 'user', content: 'How many tokens are these words?' }],
      });
      expect(counted.input_tokens).toBeGreaterThan(7);
      expect(counted.input_tokens).toBeLessThan(30);
      expect(await credits(baseUrl, tenant.apiKey)).toEqual(before);
    });

    it('gets typed errors before and within a stream', async () => {
      await expect(anthropic.messages.create(ask('Hi', { model: 'none' }))).rejects.toMatchObject({
        status: 404,
        error: { type: 'error', error: { type: 'not_found_error', code: 'model_not_found' } },
      });
      const broken = anthropic.messages.stream(ask('Hi [[tokens:50]] [[fault:cut-after:5]]'));
      await expect(broken.finalMessage()).rejects.toThrow(/upstream_error|provider/);
    });

    it('is cancelled by an abort, and pays for what it got', async () => {
      const stream = anthropic.messages.stream(ask('Hi [[tokens:150]] [[rate:20]]'));
      await new Promise((resolve) => stream.once('text', resolve));
      stream.abort();
      await expect(stream.done()).rejects.toThrow();
    });

    it('replays a response for its Idempotency-Key', async () => {
      const headers = { 'idempotency-key': `${dialect}-message` };
      const body = ask('Say something else.');
      const first = await anthropic.messages.create(body, { headers });
      expect(await anthropic.messages.create(body, { headers })).toEqual(first);
      const replayed = await anthropic.messages.stream(body, {
        headers: { 'idempotency-key': `${dialect}-other` },
      });
      expect((await replayed.finalMessage()).content).toEqual(first.content);
    });
  });

  describe('responses of the openai SDK, unmodified', () => {
    it('completes, and the cost is exact', async () => {
      const response = await openai.responses.create({
        model,
        input: 'Say something.',
        instructions: 'Be brief.',
        max_output_tokens: 200,
      });
      expect(response).toMatchObject({ object: 'response', status: 'completed', model, store: false });
      expect(response.output_text).toMatch(/\S/);
      await expectCharged(response.id, ofResponse(response.usage));
    });

    it('streams the same response, and the cost is exact', async () => {
      const body = { model, input: 'Tell me a story. [[tokens:50]]' };
      const whole = await openai.responses.create(body);
      const streamed = await openai.responses.stream(body).finalResponse();
      expect(streamed.output_text).toBe(whole.output_text);
      await expectCharged(streamed.id, ofResponse(streamed.usage));
    });

    it.each([true, false])('finishes a tool loop with reasoning, streamed %s', async (isStreamed) => {
      const input: OpenAI.Responses.ResponseInput = [{ role: 'user', content: QUESTION }];
      const body = (): OpenAI.Responses.ResponseCreateParamsNonStreaming => ({
        model: reasoner,
        input,
        store: false,
        include: ['reasoning.encrypted_content'],
        reasoning: { effort: 'low' },
        tools: [
          { type: 'web_search' },
          { type: 'function', name: 'get_weather', parameters: schema, strict: false },
          { type: 'custom', name: 'apply_patch', description: 'Patches files' },
        ],
        tool_choice: {
          type: 'allowed_tools',
          mode: 'auto',
          tools: [{ type: 'function', name: 'get_weather' }],
        },
      });
      const run = () =>
        isStreamed
          ? openai.responses.stream({ ...body(), stream: true }).finalResponse()
          : openai.responses.create(body());
      const first = await run();
      const calls = first.output.flatMap((item) => (item.type === 'function_call' ? [item] : []));
      expect(calls).toHaveLength(2);
      expect(calls.every(({ name }) => name === 'get_weather')).toBe(true);
      expect(first.output.some(({ type }) => type === 'reasoning')).toBe(true);
      input.push(
        ...(first.output as OpenAI.Responses.ResponseInput),
        ...calls.map(({ call_id }) => ({
          type: 'function_call_output' as const,
          call_id,
          output: '12 degrees',
        })),
      );
      const second = await run();
      expect(second.output_text).toMatch(/\S/);
      input.push(...(second.output as OpenAI.Responses.ResponseInput), {
        role: 'user',
        content: 'Thanks. [[calls:0]]',
      });
      expect((await run()).output_text).toMatch(/\S/);
      await expectCharged(first.id, ofResponse(first.usage), reasoner);
      await expectCharged(second.id, ofResponse(second.usage), reasoner);
    });

    it('calls a custom tool, and takes its output', async () => {
      const input: OpenAI.Responses.ResponseInput = [{ role: 'user', content: 'Patch it.' }];
      const tools = [{ type: 'custom' as const, name: 'apply_patch' }];
      const first = await openai.responses.create({ model, input, tools });
      const call = first.output.find((item) => item.type === 'custom_tool_call');
      if (call?.type !== 'custom_tool_call') throw new Error('no call');
      expect(typeof call.input).toBe('string');
      input.push(call, { type: 'custom_tool_call_output', call_id: call.call_id, output: 'done' });
      const second = await openai.responses.create({ model, input, tools });
      expect(second.output_text).toMatch(/\S/);
    });

    it('says that the output limit ended it', async () => {
      const response = await openai.responses.create({
        model,
        input: 'Hi [[tokens:100]]',
        max_output_tokens: 20,
      });
      expect(response).toMatchObject({
        status: 'incomplete',
        incomplete_details: { reason: 'max_output_tokens' },
      });
    });

    it('gets typed errors before a stream, and response.failed within it', async () => {
      await expect(
        openai.responses.create({ model, input: 'Hi', previous_response_id: 'resp_1' }),
      ).rejects.toMatchObject({ status: 400, code: 'unknown_parameter', param: 'previous_response_id' });
      const input = 'Hi [[tokens:50]] [[fault:cut-after:5]]';
      const types: string[] = [];
      for await (const event of await openai.responses.create({ model, input, stream: true })) {
        types.push(event.type);
        if (event.type === 'response.failed')
          expect(event.response.error).toMatchObject({ code: 'upstream_error', message: expect.any(String) });
      }
      expect(types.at(-1)).toBe('response.failed');
    });

    it('is cancelled by an abort, and pays for what it got', async () => {
      const stream = await openai.responses.create({
        model,
        input: 'Hi [[tokens:150]] [[rate:20]]',
        stream: true,
      });
      for await (const event of stream) if (event.type === 'response.output_text.delta') break;
    });

    it('replays a response for its Idempotency-Key', async () => {
      const headers = { 'idempotency-key': `${dialect}-response` };
      const body = { model, input: 'Say something else.' };
      const first = await openai.responses.create(body, { headers });
      expect(await openai.responses.create(body, { headers })).toMatchObject({
        id: first.id,
        output: first.output,
      });
    });
  });

  describe('the AI SDK in its default mode', () => {
    const gateway = () => createOpenAI({ baseURL: testEnv.gateway.baseUrl, apiKey: tenant.apiKey });

    it('generates and streams', async () => {
      const { text } = await generateText({ model: gateway()(model), prompt: 'Say something.' });
      expect(text).toMatch(/\S/);
      const streamed = streamText({ model: gateway()(model), prompt: 'Say something.' });
      expect(await streamed.text).toBe(text);
      expect(await streamed.finishReason).toBe('stop');
    });

    it('finishes a tool loop without stored items', async () => {
      const { text, steps } = await generateText({
        model: gateway()(model),
        prompt: QUESTION,
        tools: {
          get_weather: tool({
            inputSchema: jsonSchema(schema as Parameters<typeof jsonSchema>[0]),
            execute: () => '12 degrees',
          }),
        },
        stopWhen: stepCountIs(3),
        providerOptions: { openai: { store: false } },
      });
      expect(steps).toHaveLength(2);
      expect(text).toMatch(/\S/);
    });
  });

  /** The SDK's accumulated message of a stream has no cost. */
  async function costOf(id: string): Promise<{ cost: number }> {
    const { total_cost: cost } = await settledGeneration(testEnv.gateway.baseUrl, tenant.apiKey, id);
    return { cost };
  }
});

it('serves every format with the models that it lists', async () => {
  const tenant = await testEnv.tenant();
  const listed = (await testEnv.client(tenant.apiKey).models.list()).data as unknown as {
    endpoints: string[];
  }[];
  expect(
    listed.every(({ endpoints }) => endpoints.join() === '/v1/chat/completions,/v1/messages,/v1/responses'),
  ).toBe(true);
});
