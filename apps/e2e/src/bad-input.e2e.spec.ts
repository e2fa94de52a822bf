import http from 'node:http';
import net from 'node:net';
import { nothingReserved } from './testing/accounting';
import type { Tenant } from '@gateway/test-support';
import { joinTestEnv, type SharedTestEnv } from './testing/test-env';

jest.setTimeout(120_000);

describe('bad input', () => {
  let testEnv: SharedTestEnv;
  let tenant: Tenant;
  let model: string;

  beforeAll(async () => {
    testEnv = await joinTestEnv();
    // One slot: a request that leaks it makes the next one fail.
    tenant = await testEnv.tenant({ limits: { concurrency: 1 } });
    model = 'demo/small';
  });

  afterAll(() => testEnv?.stop());

  const hello = [{ role: 'user', content: 'Hello' }];

  async function expectNoHoldOrSlotLeaked(): Promise<void> {
    await nothingReserved(testEnv.gateway.baseUrl, tenant.apiKey);
    const response = await fetch(`${testEnv.gateway.baseUrl}/chat/completions`, {
      method: 'POST',
      headers: { authorization: `Bearer ${tenant.apiKey}`, 'content-type': 'application/json' },
      body: JSON.stringify({ model, max_tokens: 5, messages: hello }),
    });
    expect([response.status, await response.text()]).toEqual([200, expect.any(String)]);
  }

  const bodies: [string, string | Buffer][] = [
    ['an empty body', ''],
    ['invalid JSON', '{'],
    ['null', 'null'],
    ['an array', '[]'],
    ['a number', '1e999'],
    ['invalid UTF-8', Buffer.from([0x7b, 0x22, 0xff, 0xfe, 0x22, 0x7d])],
    ['__proto__', `{"__proto__": {"model": "x"}, "model": ${JSON.stringify('x')}, "messages": []}`],
    ['deep nesting', `{"model":"x","messages":${'['.repeat(100_000)}${']'.repeat(100_000)}}`],
    ['a lone surrogate', '{"model":"\\ud800","messages":[{"role":"user","content":"\\udc00"}]}'],
    ['null messages', '{"model":"x","messages":[null,null]}'],
    ['huge numbers', '{"model":"x","messages":[{"role":"user","content":"x"}],"max_tokens":1e308}'],
    ['a negative limit', '{"model":"x","messages":[{"role":"user","content":"x"}],"max_tokens":-1}'],
    [
      'many messages',
      JSON.stringify({ model: 'x', messages: Array.from({ length: 10_000 }, () => hello[0]) }),
    ],
  ];

  it.each(bodies)('%s gets a 4xx error envelope', async (_, body) => {
    const response = await fetch(`${testEnv.gateway.baseUrl}/chat/completions`, {
      method: 'POST',
      headers: { authorization: `Bearer ${tenant.apiKey}`, 'content-type': 'application/json' },
      body,
    });
    expect(response.status).toBeGreaterThanOrEqual(400);
    expect(response.status).toBeLessThan(500);
    expect(await response.json()).toEqual({
      error: expect.objectContaining({
        message: expect.any(String),
        type: expect.any(String),
        code: expect.any(String),
        metadata: expect.any(Object),
      }) as unknown,
    });
    await expectNoHoldOrSlotLeaked();
  });

  it.each([
    ['/models?x[]=1&x[y]=2'],
    ['/generation'],
    ['/generation?id='],
    ['/generation?id=%00'],
    [`/generation?id=${'x'.repeat(5_000)}`],
    ['/generation?id=a&id=b'],
    ['/usage?start_date=yesterday'],
    ['/usage?start_date=2026-11-20&end_date=2026-11-01'],
    ['/usage?group_by=everything'],
    ['/usage?group_by[]=day'],
    ['/usage?model='],
    ['/credits?%'],
    ['/../v1/models'],
    ['/nothing'],
  ])('GET %s never returns a 5xx', async (path) => {
    const response = await fetch(`${testEnv.gateway.baseUrl}${path}`, {
      headers: { authorization: `Bearer ${tenant.apiKey}` },
    });
    expect(response.status).toBeLessThan(500);
    expect(await response.json()).toEqual(expect.any(Object));
  });

  it('releases hold and slot when the client disconnects before the body is complete', async () => {
    const { hostname, port } = new URL(testEnv.gateway.baseUrl);
    await new Promise<void>((resolve, reject) => {
      const request = http.request({
        hostname,
        port,
        path: '/v1/chat/completions',
        method: 'POST',
        headers: { authorization: `Bearer ${tenant.apiKey}`, 'content-length': '1000' },
      });
      request.once('error', () => resolve());
      request.write('{"model":', () => {
        request.destroy();
        resolve();
      });
      request.setTimeout(10_000, () => reject(new Error('timeout')));
    });
    await expectNoHoldOrSlotLeaked();
  });

  it('survives input that is not HTTP', async () => {
    const { hostname, port } = new URL(testEnv.gateway.baseUrl);
    await new Promise<void>((resolve) => {
      const socket = net.connect(Number(port), hostname, () => socket.end('\x16\x03\x01 nonsense\r\n\r\n'));
      socket.on('data', () => undefined);
      socket.once('close', () => resolve());
      socket.once('error', () => resolve());
    });
    await expectNoHoldOrSlotLeaked();
  });
});
