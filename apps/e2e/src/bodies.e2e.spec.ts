import http from 'node:http';
import { gzipSync } from 'node:zlib';
import { nothingReserved } from './testing/accounting';
import type { Tenant } from '@gateway/test-support';
import { scrape } from './testing/metrics';
import { startTestEnv, type TestEnv } from './testing/test-env';

jest.setTimeout(60_000);

const LIMIT_BYTES = 64 * 1024;
const MIB = 1024 * 1024;

describe('request bodies with configured limits', () => {
  let testEnv: TestEnv;
  let tenant: Tenant;

  beforeAll(async () => {
    testEnv = await startTestEnv({
      env: { GATEWAY_MAX_BODY_BYTES: String(LIMIT_BYTES), GATEWAY_BODY_TIMEOUT_MS: '1000' },
    });
    tenant = await testEnv.tenant({ limits: { concurrency: 1 } });
  });

  afterAll(() => testEnv?.stop());

  const valid = JSON.stringify({
    model: 'demo/small',
    max_tokens: 5,
    messages: [{ role: 'user', content: 'Hi' }],
  });

  function post(body: string | Buffer, headers: Record<string, string> = {}): Promise<Response> {
    return fetch(`${testEnv.gateway.baseUrl}/chat/completions`, {
      method: 'POST',
      headers: { authorization: `Bearer ${tenant.apiKey}`, 'content-type': 'application/json', ...headers },
      body,
    });
  }

  it('accepts a body of exactly the limit, and names the limit when it rejects a larger one', async () => {
    expect((await post(valid.padEnd(LIMIT_BYTES))).status).toBe(200);
    const rejected = await post(valid.padEnd(LIMIT_BYTES + 1));
    expect(rejected.status).toBe(413);
    expect(await rejected.json()).toMatchObject({
      error: { code: 'request_too_large', metadata: { limit: LIMIT_BYTES } },
    });
  });

  it('stops decompressing a gzip bomb at the limit, so that it does not fill the memory', async () => {
    // A gzip file may have many members; each of these decompresses to 64 MiB.
    const bomb = Buffer.concat(Array<Buffer>(16).fill(gzipSync(Buffer.alloc(64 * MIB))));
    const before = (await scrape(testEnv.gateway)).sum('process_resident_memory_bytes');
    const responses = await Promise.all(
      Array.from({ length: 10 }, () => post(bomb, { 'content-encoding': 'gzip' })),
    );
    for (const response of responses) {
      expect(response.status).toBe(413);
      expect(await response.json()).toMatchObject({ error: { code: 'request_too_large' } });
    }
    const growth = (await scrape(testEnv.gateway)).sum('process_resident_memory_bytes') - before;
    // Without the limit, the ten bodies would decompress to 10 GiB.
    expect(growth).toBeLessThan(200 * MIB);
    await nothingReserved(testEnv.gateway.baseUrl, tenant.apiKey);
  });

  it('rejects a body that does not arrive in time, and releases its slot', async () => {
    const { hostname, port } = new URL(testEnv.gateway.baseUrl);
    const result = await new Promise<{ status: number; text: string }>((resolve, reject) => {
      const request = http.request({
        hostname,
        port,
        method: 'POST',
        path: '/v1/chat/completions',
        headers: { authorization: `Bearer ${tenant.apiKey}`, 'content-length': '1000' },
      });
      // A byte every 100 ms keeps the connection active, but the body is still too late.
      const trickle = setInterval(() => request.write(' '), 100);
      request.once('error', reject);
      request.once('response', (response) => {
        clearInterval(trickle);
        let text = '';
        response.setEncoding('utf8').on('data', (chunk: string) => (text += chunk));
        response.once('end', () => {
          request.destroy();
          resolve({ status: response.statusCode ?? 0, text });
        });
      });
      request.write('{');
    });
    expect(result.status).toBe(408);
    expect(JSON.parse(result.text)).toMatchObject({
      error: { code: 'request_timeout', type: 'timeout_error' },
    });
    expect((await post(valid)).status).toBe(200);
  });
});
