import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import os from 'node:os';
import path from 'node:path';
import { pngDataUri } from './testing/png';
import { startTestEnv, type TestEnv } from './testing/test-env';

jest.setTimeout(120_000);

/** How requests that deviate from the API reach the provider. */
describe('a provider behind the gateway', () => {
  const received: string[] = [];
  let provider: Server;
  let folder: string;
  let testEnv: TestEnv;
  let apiKey: string;

  beforeAll(async () => {
    provider = createServer((request, response) => {
      const chunks: Buffer[] = [];
      request.on('data', (chunk: Buffer) => chunks.push(chunk));
      request.on('end', () => {
        received.push(Buffer.concat(chunks).toString());
        const message = { role: 'assistant', content: 'Hello' };
        const usage = { prompt_tokens: 5, completion_tokens: 1, total_tokens: 6 };
        response.setHeader('content-type', 'application/json');
        response.end(JSON.stringify({ choices: [{ index: 0, message, finish_reason: 'stop' }], usage }));
      });
    });
    await new Promise<void>((resolve) => provider.listen(0, '127.0.0.1', resolve));
    folder = mkdtempSync(path.join(os.tmpdir(), 'gateway-lenient-'));
    const modelsFile = path.join(folder, 'models.yaml');
    const model = (id: string, target: string) => `
  - id: ${id}
    targets: [{ provider: recording, model: recorded${target} }]
    context_window: 32768
    max_output_tokens: 1024
    capabilities: [tools, vision]
    prices: { input: '0.10', output: '0.40' }`;
    const { port } = provider.address() as AddressInfo;
    writeFileSync(
      modelsFile,
      `providers:\n  - { name: recording, base_url: 'http://127.0.0.1:${port}/v1' }\nmodels:` +
        `${model('test/plain', '')}${model('test/thinking', ', forward_reasoning_content: true')}\n`,
    );
    testEnv = await startTestEnv({ modelsFile });
    ({ apiKey } = await testEnv.tenant());
  });

  afterAll(async () => {
    await testEnv?.stop();
    provider?.closeAllConnections();
    provider?.close();
    if (folder) rmSync(folder, { recursive: true, force: true });
  });

  /** The body that the provider receives for this request body, as text. */
  async function forwardedText(body: string): Promise<string> {
    const response = await fetch(`${testEnv.gateway.baseUrl}/chat/completions`, {
      method: 'POST',
      headers: { authorization: `Bearer ${apiKey}`, 'content-type': 'application/json' },
      body,
    });
    expect([response.status, await response.text()]).toEqual([200, expect.any(String)]);
    return received.at(-1) ?? '';
  }

  const hello = [{ role: 'user', content: 'Hello' }];
  const forwarded = async (fields: object) =>
    JSON.parse(
      await forwardedText(JSON.stringify({ model: 'test/plain', messages: hello, max_tokens: 9, ...fields })),
    ) as Record<string, unknown>;

  it('receives no ignored fields', async () => {
    const tools = [{ type: 'function', function: { name: 'f' } }];
    const body = await forwarded({
      tools,
      parallel_tool_calls: true,
      stop: [],
      metadata: { nested: { a: [1] } },
      service_tier: 'flex',
    });
    expect(body).toEqual({ model: 'recorded', stream: false, max_tokens: 9, messages: hello, tools });
    expect(await forwarded({ metadata: 'nightly' })).not.toHaveProperty('metadata');
  });

  it('receives max_tokens capped to the maximum of the model', async () => {
    expect(await forwarded({ max_tokens: 32_000 })).toMatchObject({ max_tokens: 1_024 });
  });

  it('receives messages with omitted fields filled in', async () => {
    const call = { id: 'a', function: { name: 'f', arguments: '{}' } };
    const { messages } = await forwarded({
      messages: [
        ...hello,
        { role: 'assistant', content: null },
        { role: 'assistant', content: null, tool_calls: [call] },
        { role: 'tool', content: null, tool_call_id: 'a' },
      ],
    });
    expect(messages).toEqual([
      ...hello,
      { role: 'assistant', content: '' },
      { role: 'assistant', tool_calls: [{ ...call, type: 'function' }] },
      { role: 'tool', content: '', tool_call_id: 'a' },
    ]);
  });

  it('receives an image with its actual media type, in base64 without whitespace', async () => {
    const base64 = pngDataUri(3, 2).replace('data:image/png;base64,', '');
    const lines = base64.replace(/(.{16})/g, '$1\r\n  ');
    const partOf = (url: string) => [{ role: 'user', content: [{ type: 'image_url', image_url: { url } }] }];
    const { messages } = await forwarded({ messages: partOf(`data:image/jpg;base64,${lines}`) });
    expect(messages).toEqual(partOf(`data:image/png;base64,${base64}`));
  });

  it('receives the reasoning of earlier turns only if its target forwards reasoning content', async () => {
    const reasoning = { role: 'assistant', content: 'Hi', reasoning_content: 'Let me think.' };
    const messages = [...hello, reasoning, ...hello];
    expect(await forwarded({ model: 'test/thinking', messages })).toMatchObject({ messages });
    expect((await forwarded({ messages }))['messages']).toEqual([
      ...hello,
      { role: 'assistant', content: 'Hi' },
      ...hello,
    ]);
  });

  it.each(['9223372036854775807', '-9223372036854775808', '9007199254740993', '7'])(
    'receives the seed %s without loss of precision',
    async (seed) => {
      const body = JSON.stringify({ model: 'test/plain', messages: hello }).replace(/}$/, `,"seed":${seed}}`);
      expect(await forwardedText(body)).toMatch(new RegExp(`"seed":${seed}[,}]`));
    },
  );
});
