import { readFileSync } from 'node:fs';
import type { ReceivedResponse } from '@gateway/test-support';
import { settledGeneration } from './testing/accounting';
import type { Tenant } from '@gateway/test-support';
import { apiDocument, openApiFile, releasedExampleOf, sendRequest } from './testing/api-document';
import { pngDataUri } from './testing/png';
import { joinTestEnv, type SharedTestEnv } from './testing/test-env';

jest.setTimeout(120_000);

const CHAT = 'POST /v1/chat/completions';
const tool = {
  type: 'function',
  function: {
    name: 'get_weather',
    parameters: { type: 'object', properties: { city: { type: 'string' } }, required: ['city'] },
  },
};

describe('the OpenAPI document and the running gateway', () => {
  let testEnv: SharedTestEnv;
  let tenant: Tenant;

  beforeAll(async () => {
    testEnv = await joinTestEnv();
    tenant = await testEnv.tenant({
      limits: { requests_per_minute: 10_000, tokens_per_minute: 100_000_000 },
    });
  });

  afterAll(() => testEnv?.stop());

  const chatBody = (changes: object = {}, text = 'Hello') => ({
    model: 'demo/standard',
    max_tokens: 40,
    messages: [{ role: 'user', content: text }],
    ...changes,
  });

  const chat = (body: unknown, headers?: Record<string, string>, apiKey = tenant.apiKey) =>
    sendRequest(testEnv.gateway.baseUrl, apiKey, CHAT, { body, ...(headers ? { headers } : {}) });

  const get = (target: string, apiKey = tenant.apiKey) =>
    sendRequest(testEnv.gateway.baseUrl, apiKey, `GET /v1/${target}`);

  function expectDescribed(response: ReceivedResponse, status: number): void {
    expect([response.status, response.body]).toEqual([status, expect.any(String)]);
    expect(apiDocument.problemsOf(response)).toEqual([]);
  }

  it('serves the committed document without authentication', async () => {
    const { dashboardUrl } = testEnv.gateway;
    const served = await fetch(`${dashboardUrl}/openapi.json`);
    expect((await served.text()) === readFileSync(openApiFile, 'utf8')).toBe(true);
  });

  it('serves a viewer with all its scripts and assets', async () => {
    const { dashboardUrl } = testEnv.gateway;
    const page = await (await fetch(`${dashboardUrl}/docs`)).text();
    const assets = [...page.matchAll(/ (?:src|href)="(\/[^"]*)"/g)].map(([, at = '']) => at);
    expect(assets).toEqual(expect.arrayContaining(['/openapi.json', '/docs/start.js']));
    for (const asset of assets) {
      const { status, headers } = await fetch(`${dashboardUrl}${asset}`);
      expect([asset, status, headers.get('content-type')]).toEqual([
        asset,
        200,
        expect.stringMatching(/^(text|application)\//),
      ]);
    }
  });

  it.each<[string, () => object]>([
    ['text', () => chatBody()],
    ['a response cut off at its token limit', () => chatBody({ max_tokens: 3 }, '[[tokens:30]] Hello')],
    ['several completions', () => chatBody({ n: 2 })],
    ['tool calls', () => chatBody({ tools: [tool], tool_choice: 'required', max_tokens: 200 })],
    ['JSON', () => chatBody({ response_format: { type: 'json_object' }, max_tokens: 200 })],
    ['reasoning', () => chatBody({ model: 'demo/reasoner', reasoning_effort: 'low', max_tokens: 200 })],
    ['a filtered response', () => chatBody({}, '[[fault:content-filter]] Hello')],
    [
      'an image',
      () =>
        chatBody({
          model: 'demo/vision',
          messages: [
            { role: 'user', content: [{ type: 'image_url', image_url: { url: pngDataUri(8, 8) } }] },
          ],
        }),
    ],
  ])('agree on %s, streamed or not', async (_, body) => {
    await tenant.setLimits({ multiple_completions: true });
    expectDescribed(await chat(body()), 200);
    const { apiKey } = await tenant.createKey({ json_streaming: true });
    for (const options of [{}, { stream_options: { include_usage: true } }])
      expectDescribed(await chat({ ...body(), stream: true, ...options }, undefined, apiKey), 200);
  });

  it('accept the request of the last release, on the endpoint that is on by default', async () => {
    const example = releasedExampleOf('/v1/chat/completions');
    expectDescribed(await chat({ ...example, model: 'demo/standard' }), 200);
  });

  it('agree on a replay, and on a stream that fails', async () => {
    const key = { 'idempotency-key': 'openapi-1' };
    const first = await chat(chatBody(), key);
    expectDescribed(first, 200);
    // The key stays in flight until settlement.
    await settledGeneration(testEnv.gateway.baseUrl, tenant.apiKey, first.headers['x-generation-id'] ?? '');
    const replay = await chat(chatBody(), key);
    expectDescribed(replay, 200);
    expect(replay.headers['idempotent-replayed']).toBe('true');
    const broken = await chat(chatBody({ stream: true }, '[[fault:cut-after:2]] Hello'));
    expectDescribed(broken, 200);
    expect(broken.body).toContain('"finish_reason":"error"');
  });

  it('agree on models, credits, generations and usage', async () => {
    const completion = JSON.parse((await chat(chatBody({ user: 'customer-17' }))).body) as { id: string };
    await settledGeneration(testEnv.gateway.baseUrl, tenant.apiKey, completion.id);
    expectDescribed(await get(`generation?id=${completion.id}`), 200);
    expectDescribed(await get('models'), 200);
    expectDescribed(await get('credits'), 200);
    expectDescribed(await get('usage'), 200);
    for (const groups of [
      'day',
      'model',
      'api_key',
      'project,api_type',
      'day,model,api_key',
      'day,user',
      'tag:team',
    ]) {
      expectDescribed(await get(`usage?group_by=${groups}`), 200);
    }
    expectDescribed(await get('usage?model=demo/standard'), 200);
  });

  it('agree on every kind of error, on each endpoint that returns it', async () => {
    const readOnly = await tenant.createKey({ scopes: ['usage:read'] });
    const chatOnly = await tenant.createKey({ scopes: ['chat'] });
    const otherAddress = await tenant.createKey({ ip_allowlist: ['192.0.2.1'] });
    const withoutCredit = await testEnv.tenant({ credit: '0.000000001' });
    const capped = await testEnv.tenant({
      limits: { max_output_tokens: 10, requests_per_minute: 1, daily_budget_usd: '1' },
    });
    const overBudget = await testEnv.tenant({ limits: { daily_budget_usd: '0.000000001' } });

    for (const target of ['models', 'credits', 'generation?id=gen-x', 'usage']) {
      expectDescribed(await get(target, 'sk-gw-unknown'), 401);
      expectDescribed(await get(target, otherAddress.apiKey), 401);
      if (target !== 'models') expectDescribed(await get(target, chatOnly.apiKey), 403);
    }
    expectDescribed(await get('generation?id=gen-x'), 404);
    expectDescribed(await get('generation'), 404);
    expectDescribed(await get('usage?start_date=yesterday'), 400);

    expectDescribed(await chat(chatBody(), {}, readOnly.apiKey), 403);
    for (const body of [
      '{',
      chatBody({ model: null }),
      chatBody({ messages: [] }),
      chatBody({ foo: 1 }),
      chatBody({ temperature: 9 }),
      chatBody({ n: 0 }),
      chatBody({ logprobs: true }),
      chatBody({ response_format: { type: 'json_object' }, stream: true }),
      chatBody({ model: 'demo/small', tools: [tool] }),
      chatBody({ reasoning_effort: 'low' }),
      chatBody({}, 'word '.repeat(200_000)),
      chatBody({}, '[[fault:400]] Hello'),
      chatBody({}, '[[fault:context-length]] Hello'),
    ]) {
      expectDescribed(await chat(body), 400);
    }
    expectDescribed(await chat(chatBody({ model: 'demo/none' })), 404);
    expectDescribed(await chat(chatBody({ max_tokens: 11 }), {}, capped.apiKey), 400);
    expectDescribed(await chat(chatBody({ user: 'x' }), { 'idempotency-key': 'openapi-1' }), 422);
    expectDescribed(await chat(chatBody(), {}, withoutCredit.apiKey), 402);
    expectDescribed(await chat(chatBody(), {}, overBudget.apiKey), 429);
    const concurrent = [0, 1, 2].map(() => chat(chatBody({ max_tokens: 5 }), {}, capped.apiKey));
    const limited = (await Promise.all(concurrent)).find(({ status }) => status !== 200);
    if (limited) expectDescribed(limited, 429);
    expect(limited).toBeDefined();
    expectDescribed(await chat(chatBody({}, '[[fault:401]] Hello')), 500);
    expectDescribed(await chat(chatBody({}, '[[fault:500]] Hello')), 502);
    expectDescribed(await chat(chatBody({}, '[[fault:429]] Hello')), 503);
  });
});
