import { execFile } from 'node:child_process';
import { readFileSync, statSync } from 'node:fs';
import path from 'node:path';
import { promisify } from 'node:util';
import { settledGeneration } from './testing/accounting';
import { startGateway, type GatewayProcess } from './testing/gateway-process';

jest.setTimeout(120_000);

describe('the lifecycle of `npm start`', () => {
  let gateway: GatewayProcess;

  beforeAll(async () => {
    gateway = await startGateway({ isFirstStart: true });
  });

  afterAll(() => gateway?.stop());

  const complete = (content: string, stream = false) =>
    fetch(`${gateway.baseUrl}/chat/completions`, {
      method: 'POST',
      headers: { authorization: `Bearer ${gateway.apiKey}`, 'content-type': 'application/json' },
      body: JSON.stringify({
        model: 'demo/small',
        stream,
        max_tokens: 300,
        messages: [{ role: 'user', content }],
      }),
    });

  it('writes dev.json with the connection details of a program, readable only by its owner', () => {
    const file = path.join(gateway.stateDirectory, 'dev.json');
    expect(Object.keys(JSON.parse(readFileSync(file, 'utf8')) as object).sort()).toEqual([
      'adminEmail',
      'adminPassword',
      'apiKey',
      'baseUrl',
      'dashboardUrl',
    ]);
    expect(statSync(file).mode & 0o077).toBe(0);
  });

  it('prints a curl line that works when pasted', async () => {
    const line = /^curl .*$/m.exec(gateway.output())?.[0];
    expect(line).toBeDefined();
    const { stdout } = await promisify(execFile)('sh', ['-c', `${line} --silent`]);
    expect(JSON.parse(stdout)).toMatchObject({ object: 'chat.completion' });
  });

  it('finishes a running stream before it stops, and keeps key, history and login across a restart', async () => {
    const first = (await (await complete('Hello')).json()) as { id: string };
    await settledGeneration(gateway.baseUrl, gateway.apiKey, first.id);
    const running = await complete('[[tokens:60]] [[rate:60]] Hello', true);
    const reader = running.body!.getReader();
    const decoder = new TextDecoder();
    let text = decoder.decode((await reader.read()).value, { stream: true });

    const { stateDirectory, apiKey, adminPassword } = gateway;
    const stopped = gateway.stop({ keepState: true });
    for (;;) {
      const { done, value } = await reader.read();
      if (done) break;
      text += decoder.decode(value, { stream: true });
    }
    expect(text).toMatch(/"finish_reason":"(stop|length)"/);
    expect(text.endsWith('data: [DONE]\n\n')).toBe(true);
    await stopped;

    gateway = await startGateway({ stateDirectory });
    expect(gateway.apiKey).toBe(apiKey);
    expect(gateway.adminPassword).toBe(adminPassword);
    const streamed = /"id":"(gen-[^"]+)"/.exec(text)?.[1] ?? '';
    await settledGeneration(gateway.baseUrl, apiKey, first.id);
    await settledGeneration(gateway.baseUrl, apiKey, streamed);
  });

  it('serves /livez, /readyz and /metrics on the admin port', async () => {
    for (const probe of ['/livez', '/readyz']) {
      expect((await fetch(`${gateway.adminUrl}${probe}`)).status).toBe(200);
    }
    const metrics = await (await fetch(`${gateway.adminUrl}/metrics`)).text();
    expect(metrics).toMatch(/gateway_edge_proxy_/);
    expect(metrics).toMatch(/gateway_billing_ledger_/);
    expect(metrics).not.toContain('sk-gw-');
  });

  it('never prints a prompt, and logs no key', async () => {
    await complete('a very secret prompt');
    expect(gateway.output()).not.toContain('a very secret prompt');
    const logLines = gateway
      .output()
      .split('\n')
      .filter((line) => line.startsWith('{'));
    expect(logLines.join('\n')).not.toContain(gateway.apiKey);
  });
});
