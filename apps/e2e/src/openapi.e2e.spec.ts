import { readFileSync } from 'node:fs';
import type { SeenAnswer } from '@gateway/test-support';
import { settledGeneration } from './testing/accounting';
import type { Tenant } from '@gateway/test-support';
import { apiDocument, ask, openApiFile } from './testing/api-document';
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
    ask(testEnv.gateway.baseUrl, apiKey, CHAT, { body, ...(headers ? { headers } : {}) });

  const get = (target: string, apiKey = tenant.apiKey) =>
    ask(testEnv.gateway.baseUrl, apiKey, `GET /v1/${target}`);

  function isAsDescribed(answer: SeenAnswer, status: number): void {
    expect([answer.status, answer.body]).toEqual([status, expect.any(String)]);
    expect(apiDocument.faultsOf(answer)).toEqual([]);
  }

  it('serves the document without authentication, as it is committed', async () => {
    const { dashboardUrl } = testEnv.gateway;
    const served = await fetch(`${dashboardUrl}/openapi.json`);
    expect((await served.text()) === readFileSync(openApiFile, 'utf8')).toBe(true);
  });

  it('serves a viewer with all that it runs and loads', async () => {
    const { dashboardUrl } = testEnv.gateway;
    const page = await (await fetch(`${dashboardUrl}/docs`)).text();
    const parts = [...page.matchAll(/ (?:src|href)="(\/[^"]*)"/g)].map(([, at = '']) => at);
    expect(parts).toEqual(expect.arrayContaining(['/openapi.json', '/docs/start.js']));
    for (const part of parts) {
      const { status, headers } = await fetch(`${dashboardUrl}${part}`);
      expect([part, status, headers.get('content-type')]).toEqual([
        part,
        200,
        expect.stringMatching(/^(text|application)\//),
      ]);
    }
  });

  it.each<[string, () => object]>([
    ['text', () => chatBody()],
    ['an answer cut by its limit', () => chatBody({ max_tokens: 3 }, '[[tokens:30]] Hello')],
    ['several completions', () => chatBody({ n: 2 })],
    ['tool calls', () => chatBody({ tools: [tool], tool_choice: 'required', max_tokens: 200 })],
    ['JSON', () => chatBody({ response_format: { type: 'json_object' }, max_tokens: 200 })],
    ['reasoning', () => chatBody({ model: 'demo/reasoner', reasoning_effort: 'low', max_tokens: 200 })],
    ['a filtered answer', () => chatBody({}, '[[fault:content-filter]] Hello')],
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
  ])('describe %s, whole and streamed', async (_, body) => {
    await tenant.setLimits({ multiple_completions: true });
    isAsDescribed(await chat(body()), 200);
    // JSON is not streamed.
    if ('response_format' in body()) return;
    isAsDescribed(await chat({ ...body(), stream: true }), 200);
    isAsDescribed(await chat({ ...body(), stream: true, stream_options: { include_usage: true } }), 200);
  });

  it('describe a replay, and a stream that breaks off', async () => {
    const key = { 'idempotency-key': 'openapi-1' };
    const first = await chat(chatBody(), key);
    isAsDescribed(first, 200);
    // Until it is settled the first request counts as running.
    await settledGeneration(testEnv.gateway.baseUrl, tenant.apiKey, first.headers['x-generation-id'] ?? '');
    const replay = await chat(chatBody(), key);
    isAsDescribed(replay, 200);
    expect(replay.headers['idempotent-replayed']).toBe('true');
    const broken = await chat(chatBody({ stream: true }, '[[fault:cut-after:2]] Hello'));
    isAsDescribed(broken, 200);
    expect(broken.body).toContain('"finish_reason":"error"');
  });

  it('describe models, credits, generations and usage', async () => {
    const completion = JSON.parse((await chat(chatBody({ user: 'somebody' }))).body) as { id: string };
    await settledGeneration(testEnv.gateway.baseUrl, tenant.apiKey, completion.id);
    isAsDescribed(await get(`generation?id=${completion.id}`), 200);
    isAsDescribed(await get('models'), 200);
    isAsDescribed(await get('credits'), 200);
    isAsDescribed(await get('usage'), 200);
    for (const groups of ['day', 'model', 'api_key', 'day,model,api_key']) {
      isAsDescribed(await get(`usage?group_by=${groups}`), 200);
    }
    isAsDescribed(await get('usage?model=demo/standard'), 200);
  });

  it('describe refusals of every kind, on the endpoints that give them', async () => {
    const readOnly = await tenant.createKey({ scopes: ['usage:read'] });
    const chatOnly = await tenant.createKey({ scopes: ['chat'] });
    const elsewhere = await tenant.createKey({ ip_allowlist: ['192.0.2.1'] });
    const poor = await testEnv.tenant({ credit: '0.000000001' });
    const capped = await testEnv.tenant({
      limits: { max_output_tokens: 10, requests_per_minute: 1, daily_budget_usd: '1' },
    });
    const thrifty = await testEnv.tenant({ limits: { daily_budget_usd: '0.000000001' } });

    for (const target of ['models', 'credits', 'generation?id=gen-x', 'usage']) {
      isAsDescribed(await get(target, 'sk-gw-unknown'), 401);
      isAsDescribed(await get(target, elsewhere.apiKey), 401);
      if (target !== 'models') isAsDescribed(await get(target, chatOnly.apiKey), 403);
    }
    isAsDescribed(await get('generation?id=gen-x'), 404);
    isAsDescribed(await get('generation'), 404);
    isAsDescribed(await get('usage?start_date=yesterday'), 400);

    isAsDescribed(await chat(chatBody(), {}, readOnly.apiKey), 403);
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
      isAsDescribed(await chat(body), 400);
    }
    isAsDescribed(await chat(chatBody({ model: 'demo/none' })), 404);
    isAsDescribed(await chat(chatBody({ max_tokens: 11 }), {}, capped.apiKey), 400);
    isAsDescribed(await chat(chatBody({ user: 'x' }), { 'idempotency-key': 'openapi-1' }), 422);
    isAsDescribed(await chat(chatBody(), {}, poor.apiKey), 402);
    isAsDescribed(await chat(chatBody(), {}, thrifty.apiKey), 429);
    const twice = [0, 1, 2].map(() => chat(chatBody({ max_tokens: 5 }), {}, capped.apiKey));
    const refused = (await Promise.all(twice)).find(({ status }) => status !== 200);
    if (refused) isAsDescribed(refused, 429);
    expect(refused).toBeDefined();
    isAsDescribed(await chat(chatBody({}, '[[fault:401]] Hello')), 500);
    isAsDescribed(await chat(chatBody({}, '[[fault:500]] Hello')), 502);
    isAsDescribed(await chat(chatBody({}, '[[fault:429]] Hello')), 503);
  });
});
