import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import os from 'node:os';
import path from 'node:path';
import { pngDataUri } from './testing/png';
import { startTestEnv, type TestEnv } from './testing/test-env';

jest.setTimeout(120_000);

/** What clients write otherwise than the API has it, and what of it the model's provider sees. */
describe('a provider behind the gateway', () => {
  const seen: string[] = [];
  let provider: Server;
  let folder: string;
  let testEnv: TestEnv;
  let apiKey: string;

  beforeAll(async () => {
    provider = createServer((request, response) => {
      const parts: Buffer[] = [];
      request.on('data', (part: Buffer) => parts.push(part));
      request.on('end', () => {
        seen.push(Buffer.concat(parts).toString());
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

  /** The body that the provider got for this one, as text. */
  async function providerGets(body: string): Promise<string> {
    const response = await fetch(`${testEnv.gateway.baseUrl}/chat/completions`, {
      method: 'POST',
      headers: { authorization: `Bearer ${apiKey}`, 'content-type': 'application/json' },
      body,
    });
    expect([response.status, await response.text()]).toEqual([200, expect.any(String)]);
    return seen.at(-1) ?? '';
  }

  const hello = [{ role: 'user', content: 'Hello' }];
  const gets = async (fields: object) =>
    JSON.parse(
      await providerGets(JSON.stringify({ model: 'test/plain', messages: hello, max_tokens: 9, ...fields })),
    ) as Record<string, unknown>;

  it('gets nothing of what is ignored', async () => {
    const tools = [{ type: 'function', function: { name: 'f' } }];
    const body = await gets({
      tools,
      parallel_tool_calls: true,
      stop: [],
      metadata: { nested: { a: [1] } },
      service_tier: 'flex',
    });
    expect(body).toEqual({ model: 'recorded', stream: false, max_tokens: 9, messages: hello, tools });
    expect(await gets({ metadata: 'nightly' })).not.toHaveProperty('metadata');
  });

  it('gets no more output asked for than the model makes', async () => {
    expect(await gets({ max_tokens: 32_000 })).toMatchObject({ max_tokens: 1_024 });
  });

  it('gets messages that are whole', async () => {
    const call = { id: 'a', function: { name: 'f', arguments: '{}' } };
    const { messages } = await gets({
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

  it('gets an image under its real type, in clean base64', async () => {
    const base64 = pngDataUri(3, 2).replace('data:image/png;base64,', '');
    const lines = base64.replace(/(.{16})/g, '$1\r\n  ');
    const partOf = (url: string) => [{ role: 'user', content: [{ type: 'image_url', image_url: { url } }] }];
    const { messages } = await gets({ messages: partOf(`data:image/jpg;base64,${lines}`) });
    expect(messages).toEqual(partOf(`data:image/png;base64,${base64}`));
  });

  it('gets the thoughts of earlier turns if it wants them', async () => {
    const thoughts = { role: 'assistant', content: 'Hi', reasoning_content: 'Let me think.' };
    const messages = [...hello, thoughts, ...hello];
    expect(await gets({ model: 'test/thinking', messages })).toMatchObject({ messages });
    expect((await gets({ messages }))['messages']).toEqual([
      ...hello,
      { role: 'assistant', content: 'Hi' },
      ...hello,
    ]);
  });

  it.each(['9223372036854775807', '-9223372036854775808', '9007199254740993', '7'])(
    'gets the seed %s digit by digit',
    async (seed) => {
      const body = JSON.stringify({ model: 'test/plain', messages: hello }).replace(/}$/, `,"seed":${seed}}`);
      expect(await providerGets(body)).toMatch(new RegExp(`"seed":${seed}[,}]`));
    },
  );
});
