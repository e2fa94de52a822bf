import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import type OpenAI from 'openai';
import {
  credits,
  expectedCostNanoUsd,
  nano,
  nothingReserved,
  pricingOf,
  settledGeneration,
} from './testing/accounting';
import type { Tenant } from '@gateway/test-support';
import { eventually } from './testing/eventually';
import { startModelServer, type ModelServer } from './testing/model-server';
import { pythonWith } from './testing/python';
import { startTestEnv, type TestEnv } from './testing/test-env';

jest.setTimeout(120_000);

const python = pythonWith('xllamacpp', 'gguf');

/** The server's context. The models file declares twice as much, so that the server rejects long prompts, not the gateway. */
const CONTEXT = 32_768;
const PROMPT = [{ role: 'user', content: 'Hello!' }] as const;

describe('a llama.cpp model server', () => {
  let folder: string;
  let servers: Record<'first' | 'second', ModelServer>;
  let testEnv: TestEnv;
  let tenant: Tenant;
  let client: OpenAI;

  const startServer = (port?: number) =>
    startModelServer(python.executable(), { folder, context: CONTEXT, ...(port ? { port } : {}) });

  async function startOnce(): Promise<void> {
    if (testEnv) return;
    folder = mkdtempSync(path.join(os.tmpdir(), 'gateway-llama-'));
    servers = { first: await startServer(), second: await startServer() };
    testEnv = await startTestEnv({ modelsFile: writeModels() });
    tenant = await testEnv.tenant();
    client = testEnv.client(tenant.apiKey);
  }

  function writeModels(): string {
    const file = path.join(folder, 'models.yaml');
    const model = (id: string, providers: string[]) => `
  - id: ${id}
    targets: [${providers.map((provider) => `{ provider: ${provider}, model: tiny }`).join(', ')}]
    context_window: ${CONTEXT * 2}
    max_output_tokens: ${CONTEXT}
    capabilities: [json_mode, structured_outputs]
    prices: { input: '0.10', cached_input: '0.01', output: '0.40' }
    # The model's tokens are single characters.
    tokenizer: { factor: 5 }`;
    writeFileSync(
      file,
      `providers:
  - { name: first, base_url: '${servers.first.url}/v1', max_attempts: 1 }
  - { name: second, base_url: '${servers.second.url}/v1' }
models:${model('llama/one', ['second'])}${model('llama/two', ['first', 'second'])}\n`,
    );
    return file;
  }

  afterAll(async () => {
    await testEnv?.stop();
    await Promise.all(Object.values(servers ?? {}).map((server) => server.kill()));
    if (folder) rmSync(folder, { recursive: true, force: true });
  });

  const complete = (body: object, as = client) =>
    as.chat.completions.create({
      model: 'llama/one',
      messages: PROMPT,
      temperature: 0,
      ...body,
    } as never) as unknown as Promise<OpenAI.ChatCompletion>;

  const stream = (body: object) =>
    complete({ stream: true, ...body }) as unknown as Promise<
      AsyncIterable<OpenAI.ChatCompletionChunk> & { controller: AbortController }
    >;

  const failureOf = (call: Promise<unknown>) =>
    call.then(
      () => undefined,
      (error: unknown) => error as InstanceType<typeof OpenAI.APIError>,
    );

  python.it('completes and streams, and the cost matches its token counts', async () => {
    await startOnce();
    const before = await nothingReserved(testEnv.gateway.baseUrl, tenant.apiKey);
    const completion = await complete({ max_tokens: 40 });
    expect(completion.choices[0]?.message.content).toHaveLength(40);
    expect(completion.choices[0]?.finish_reason).toBe('length');
    expect(completion.usage).toMatchObject({ completion_tokens: 40 });

    let text = '';
    let usage: OpenAI.CompletionUsage | undefined;
    let reason: string | null | undefined;
    for await (const chunk of await stream({ max_tokens: 40, stream_options: { include_usage: true } })) {
      text += chunk.choices[0]?.delta.content ?? '';
      reason = chunk.choices[0]?.finish_reason ?? reason;
      usage = chunk.usage ?? usage;
    }
    expect({ text, reason }).toEqual({ text: completion.choices[0]?.message.content, reason: 'length' });
    expect(usage).toMatchObject({ prompt_tokens: completion.usage?.prompt_tokens, completion_tokens: 40 });

    const after = await nothingReserved(testEnv.gateway.baseUrl, tenant.apiKey);
    const pricing = await pricingOf(testEnv.gateway.baseUrl, tenant.apiKey, 'llama/one');
    const cost = [completion.usage, usage].reduce(
      (sum, one) => sum + expectedCostNanoUsd(one as never, pricing),
      0n,
    );
    expect(nano(before.available) - nano(after.available)).toBe(cost);
  });

  python.it('needs no more than the models file that the README shows', async () => {
    await startOnce();
    const guide = readFileSync(path.resolve(__dirname, '../../../docs/how-to/connect-a-provider.md'), 'utf8');
    const example = guide.match(/```yaml\n(providers:\n {2}- name: llama-cpp\n[\s\S]*?)```/)?.[1] ?? '';
    const modelsFile = path.join(folder, 'readme.yaml');
    writeFileSync(modelsFile, example.replace('http://127.0.0.1:8090', servers.second.url));
    const shown = await startTestEnv({ modelsFile });
    try {
      const as = shown.client((await shown.tenant()).apiKey);
      const completion = await complete({ model: 'local/llama', max_tokens: 5 }, as);
      expect(completion.choices[0]?.message.content).toHaveLength(5);
      const object = await complete(
        { model: 'local/llama', max_tokens: 50, response_format: { type: 'json_object' } },
        as,
      );
      expect(object.choices[0]?.message.content).toMatch(/^\s*\{/);
    } finally {
      await shown.stop();
    }
  });

  python.it('its system fingerprint is on responses, chunks and replays', async () => {
    await startOnce();
    const { system_fingerprint: fingerprint } = await complete({ max_tokens: 5 });
    expect(fingerprint).toMatch(/^[ -~]+$/);
    const streamed = async (options?: object) => {
      const call = client.chat.completions.create(
        { model: 'llama/one', messages: [...PROMPT], temperature: 0, max_tokens: 5, stream: true },
        options,
      );
      const fingerprints: unknown[] = [];
      for await (const chunk of await call) fingerprints.push(chunk.system_fingerprint);
      return fingerprints;
    };
    const headers = { 'Idempotency-Key': 'fingerprint' };
    for (const fingerprints of [await streamed(), await streamed({ headers }), await streamed({ headers })]) {
      expect(new Set(fingerprints)).toEqual(new Set([fingerprint]));
    }
  });

  python.it('ends before a stop sequence', async () => {
    await startOnce();
    const text = (await complete({ max_tokens: 60 })).choices[0]?.message.content ?? '';
    const stop = text.slice(30, 34);
    const { choices } = await complete({ max_tokens: 60, stop: [stop] });
    expect(choices[0]).toMatchObject({
      finish_reason: 'stop',
      message: { content: text.slice(0, text.indexOf(stop)) },
    });
  });

  python.it('follows a JSON schema', async () => {
    await startOnce();
    const schema = {
      type: 'object',
      properties: { ok: { type: 'boolean' } },
      required: ['ok'],
      additionalProperties: false,
    };
    const { choices } = await complete({
      max_tokens: 200,
      response_format: { type: 'json_schema', json_schema: { name: 'result', schema, strict: true } },
    });
    expect(JSON.parse(choices[0]?.message.content ?? '')).toEqual({ ok: expect.any(Boolean) });
  });

  python.it('its rejection of a too long prompt reaches the client as context_length_exceeded', async () => {
    await startOnce();
    const failure = await failureOf(
      complete({ messages: [{ role: 'user', content: 'word '.repeat(CONTEXT / 4) }], max_tokens: 10 }),
    );
    expect(failure).toMatchObject({ status: 400, code: 'context_length_exceeded' });
    await nothingReserved(testEnv.gateway.baseUrl, tenant.apiKey);
  });

  python.it('is cancelled when the client disconnects, and what it produced is charged', async () => {
    await startOnce();
    const before = await nothingReserved(testEnv.gateway.baseUrl, tenant.apiKey);
    const chunks = await stream({ max_tokens: 30_000 });
    let id = '';
    for await (const chunk of chunks) {
      id = chunk.id;
      if (chunk.choices[0]?.delta.content) break;
    }
    chunks.controller.abort();
    await eventually('no slot is busy', async () =>
      (await servers.second.busySlots()) === 0 ? true : undefined,
    );
    const generation = await settledGeneration(testEnv.gateway.baseUrl, tenant.apiKey, id);
    expect(generation).toMatchObject({ cancelled: true });
    expect(generation.tokens_completion).toBeGreaterThan(0);
    expect(generation.tokens_completion).toBeLessThan(30_000);
    const after = await nothingReserved(testEnv.gateway.baseUrl, tenant.apiKey);
    expect(nano(before.available) - nano(after.available)).toBe(nano(generation.total_cost));
  });

  python.it(
    'when it is killed during a stream, the stream ends with an error chunk and the next request fails over',
    async () => {
      await startOnce();
      const failure = await failureOf(
        (async () => {
          for await (const chunk of await stream({ model: 'llama/two', max_tokens: 30_000 })) {
            if (chunk.choices[0]?.delta.content) await servers.first.kill();
          }
        })(),
      );
      expect(failure).toMatchObject({ code: 'upstream_error', type: 'api_error' });
      const { choices } = await complete({ model: 'llama/two', max_tokens: 5 });
      expect(choices[0]?.message.content).toHaveLength(5);
      await nothingReserved(testEnv.gateway.baseUrl, tenant.apiKey);
    },
  );

  python.it('serves requests again after a restart', async () => {
    await startOnce();
    const { port } = new URL(servers.second.url);
    await servers.second.kill();
    expect(await failureOf(complete({ max_tokens: 5 }))).toMatchObject({
      status: 502,
      code: 'upstream_error',
    });
    servers.second = await startServer(Number(port));
    await eventually('the model completes again', async () =>
      (await failureOf(complete({ max_tokens: 5 }))) === undefined ? true : undefined,
    );
    const now = await nothingReserved(testEnv.gateway.baseUrl, tenant.apiKey);
    expect(now).toEqual(await credits(testEnv.gateway.baseUrl, tenant.apiKey));
  });
});
