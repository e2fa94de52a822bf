import http from 'node:http';
import { gzipSync } from 'node:zlib';
import { nothingReserved } from './testing/accounting';
import type { Tenant } from '@gateway/test-support';
import { scrape } from './testing/metrics';
import { writeModelsFile } from './testing/models-file';
import { startTestEnv, type TestEnv } from './testing/test-env';

jest.setTimeout(60_000);

const LIMIT_BYTES = 64 * 1024;
const MIB = 1024 * 1024;

/** Pseudo-random characters, the same in every run. */
function pseudoRandomText(length: number, first: number, count: number): string {
  let state = 99;
  let text = '';
  while (text.length < length) {
    state = (Math.imul(state, 1_103_515_245) + 12_345) & 0x7fffffff;
    text += String.fromCharCode(first + ((state >>> 8) % count));
  }
  return text;
}

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

describe('text that is slow to tokenize', () => {
  let testEnv: TestEnv;
  let tenant: Tenant;

  beforeAll(async () => {
    testEnv = await startTestEnv({ modelsFile: writeModelsFile() });
    tenant = await testEnv.tenant({ credit: '1000' });
  });

  afterAll(() => testEnv?.stop());

  /** Token counts so far by method, and the longest event loop lag since the last scrape. */
  async function readCounters() {
    const metrics = await scrape(testEnv.gateway);
    const countedBy = (method: string) => metrics.sum('gateway_tokenizer_counts_total', `method="${method}"`);
    return {
      counts: { inline: countedBy('inline'), worker: countedBy('worker'), estimated: countedBy('estimated') },
      lagMs: 1000 * metrics.sum('nodejs_eventloop_lag_max_seconds'),
    };
  }

  it.each<[string, string, 'inline' | 'worker' | 'estimated']>([
    ['a greeting', 'Hello', 'inline'],
    ['a short text of special tokens', '<|endoftext|>'.repeat(50), 'inline'],
    ['700 random ideographs', pseudoRandomText(700, 0x4e00, 20_000), 'inline'],
    ['2,500 random ideographs', pseudoRandomText(2_500, 0x4e00, 20_000), 'worker'],
    ['8,000 random ideographs', pseudoRandomText(8_000, 0x4e00, 20_000), 'worker'],
    ['200,000 times the character a', 'a'.repeat(200_000), 'worker'],
    ['20,000 special tokens', '<|endoftext|>'.repeat(20_000), 'worker'],
    ['a megabyte of random ASCII', pseudoRandomText(1_000_000, 97, 26), 'worker'],
    ['500,000 random ideographs', pseudoRandomText(500_000, 0x4e00, 20_000), 'worker'],
    ['three megabytes of one character', 'a'.repeat(3_000_000), 'estimated'],
  ])('%s is counted without blocking other requests', async (name, content, expected) => {
    const before = (await readCounters()).counts;
    let otherRequests = 0;
    let done = false;
    const pings = (async () => {
      while (!done) {
        const ping = () => fetch(`${testEnv.gateway.adminUrl}/livez`);
        // Retries once: the server may close an idle connection just as the client reuses it.
        expect((await ping().catch(ping)).status).toBe(200);
        otherRequests += 1;
      }
    })();
    const response = await fetch(`${testEnv.gateway.baseUrl}/chat/completions`, {
      method: 'POST',
      headers: { authorization: `Bearer ${tenant.apiKey}`, 'content-type': 'application/json' },
      body: JSON.stringify({ model: 'test/model', max_tokens: 5, messages: [{ role: 'user', content }] }),
    });
    done = true;
    await pings;
    expect([200, 400]).toContain(response.status);
    if (response.status === 400) {
      expect(await response.json()).toMatchObject({ error: { code: 'context_length_exceeded' } });
    }
    const { counts: after, lagMs } = await readCounters();
    expect({ ...after, [expected]: after[expected] - before[expected] }).toEqual({
      ...before,
      [expected]: 1,
    });
    console.info(
      `${name}: ${otherRequests} other requests during the count, maximum event loop lag ${lagMs.toFixed(0)} ms`,
    );
  });
});
