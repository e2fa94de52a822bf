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

/** The same letters in every run. */
function letters(length: number, first: number, count: number): string {
  let state = 99;
  let text = '';
  while (text.length < length) {
    state = (Math.imul(state, 1_103_515_245) + 12_345) & 0x7fffffff;
    text += String.fromCharCode(first + ((state >>> 8) % count));
  }
  return text;
}

describe('bodies of a deployment with limits of its own', () => {
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

  it('takes exactly the bytes of its limit, and says the limit when there are more', async () => {
    expect((await post(valid.padEnd(LIMIT_BYTES))).status).toBe(200);
    const refused = await post(valid.padEnd(LIMIT_BYTES + 1));
    expect(refused.status).toBe(413);
    expect(await refused.json()).toMatchObject({
      error: { code: 'request_too_large', metadata: { limit: LIMIT_BYTES } },
    });
  });

  it('stops a bomb at the limit: a gigabyte out of a megabyte does not fill the memory', async () => {
    // A gzip file may have many members; each of these gives 64 MiB.
    const bomb = Buffer.concat(Array.from({ length: 16 }, () => gzipSync(Buffer.alloc(64 * MIB))));
    const before = (await scrape(testEnv.gateway)).sum('process_resident_memory_bytes');
    const answers = await Promise.all(
      Array.from({ length: 10 }, () => post(bomb, { 'content-encoding': 'gzip' })),
    );
    for (const answer of answers) {
      expect(answer.status).toBe(413);
      expect(await answer.json()).toMatchObject({ error: { code: 'request_too_large' } });
    }
    const grown = (await scrape(testEnv.gateway)).sum('process_resident_memory_bytes') - before;
    // Ten gigabytes would have come out.
    expect(grown).toBeLessThan(200 * MIB);
    await nothingReserved(testEnv.gateway.baseUrl, tenant.apiKey);
  });

  it('refuses a body that does not arrive in time, and keeps nothing of it', async () => {
    const { hostname, port } = new URL(testEnv.gateway.baseUrl);
    const answer = await new Promise<{ status: number; text: string }>((resolve, reject) => {
      const request = http.request({
        hostname,
        port,
        method: 'POST',
        path: '/v1/chat/completions',
        headers: { authorization: `Bearer ${tenant.apiKey}`, 'content-length': '1000' },
      });
      // One byte now and then keeps the connection busy, and is not enough.
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
    expect(answer.status).toBe(408);
    expect(JSON.parse(answer.text)).toMatchObject({
      error: { code: 'request_timeout', type: 'timeout_error' },
    });
    expect((await post(valid)).status).toBe(200);
  });
});

describe('hostile text', () => {
  let testEnv: TestEnv;
  let tenant: Tenant;

  beforeAll(async () => {
    testEnv = await startTestEnv({ modelsFile: writeModelsFile() });
    tenant = await testEnv.tenant({ credit: '1000' });
  });

  afterAll(() => testEnv?.stop());

  /** How texts were counted so far, and how long the event loop stood still since the last look. */
  async function look() {
    const metrics = await scrape(testEnv.gateway);
    const ways = (way: string) => metrics.sum('gateway_tokenizer_counts_total', `method="${way}"`);
    return {
      ways: { inline: ways('inline'), worker: ways('worker'), by_size: ways('estimated') },
      lagMs: 1000 * metrics.sum('nodejs_eventloop_lag_max_seconds'),
    };
  }

  it.each<[string, string, 'inline' | 'worker' | 'by_size']>([
    ['a greeting', 'Hello', 'inline'],
    ['a short text of special tokens', '<|endoftext|>'.repeat(50), 'inline'],
    ['700 random ideographs', letters(700, 0x4e00, 20_000), 'inline'],
    ['2,500 random ideographs', letters(2_500, 0x4e00, 20_000), 'worker'],
    ['8,000 random ideographs', letters(8_000, 0x4e00, 20_000), 'worker'],
    ['200,000 times the letter a', 'a'.repeat(200_000), 'worker'],
    ['20,000 special tokens', '<|endoftext|>'.repeat(20_000), 'worker'],
    ['a megabyte of random letters', letters(1_000_000, 97, 26), 'worker'],
    ['500,000 random ideographs', letters(500_000, 0x4e00, 20_000), 'worker'],
    ['three megabytes of one letter', 'a'.repeat(3_000_000), 'by_size'],
  ])('%s is counted where it cannot stop other requests', async (name, content, expected) => {
    const before = (await look()).ways;
    let others = 0;
    let answered = false;
    const pings = (async () => {
      while (!answered) {
        const ping = () => fetch(`${testEnv.gateway.adminUrl}/livez`);
        // Once more: the server may close an idle connection just as the client uses it again.
        expect((await ping().catch(ping)).status).toBe(200);
        others += 1;
      }
    })();
    const response = await fetch(`${testEnv.gateway.baseUrl}/chat/completions`, {
      method: 'POST',
      headers: { authorization: `Bearer ${tenant.apiKey}`, 'content-type': 'application/json' },
      body: JSON.stringify({ model: 'test/model', max_tokens: 5, messages: [{ role: 'user', content }] }),
    });
    answered = true;
    await pings;
    expect([200, 400]).toContain(response.status);
    if (response.status === 400) {
      expect(await response.json()).toMatchObject({ error: { code: 'context_length_exceeded' } });
    }
    const { ways: after, lagMs } = await look();
    expect({ ...after, [expected]: after[expected] - before[expected] }).toEqual({
      ...before,
      [expected]: 1,
    });
    console.info(
      `${name}: ${others} other requests meanwhile, event loop lag at most ${lagMs.toFixed(0)} ms`,
    );
  });
});
