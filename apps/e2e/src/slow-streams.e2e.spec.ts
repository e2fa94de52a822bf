import { testsCluster } from '@gateway/test-support';
import { nothingReserved } from './testing/accounting';
import type { Tenant } from '@gateway/test-support';
import { writeModelsFile } from './testing/models-file';
import { postRaw } from './testing/raw-stream';
import { startTestEnv, type TestEnv } from './testing/test-env';

jest.setTimeout(60_000);

const MIB = 1024 * 1024;

interface Stats {
  chunks: number;
  completed: number;
  in_flight: number;
}

async function statsOf(testEnv: TestEnv): Promise<Stats> {
  return (await (await fetch(new URL('/_emulator/stats', testEnv.emulatorUrl))).json()) as Stats;
}

describe('a stream that falls silent', () => {
  let testEnv: TestEnv;
  let tenant: Tenant;

  beforeAll(async () => {
    testEnv = await startTestEnv({
      modelsFile: writeModelsFile({
        timeouts: { first_event_ms: 1_500, first_byte_ms: 1_500, idle_ms: 2_000, total_ms: 4_000 },
      }),
      env: { GATEWAY_KEEP_ALIVE_COMMENT_MS: '200' },
    });
    tenant = await testEnv.tenant();
  });

  afterAll(() => testEnv?.stop());

  function ask(text: string, fields: object = {}): Promise<Response> {
    return fetch(`${testEnv.gateway.baseUrl}/chat/completions`, {
      method: 'POST',
      headers: { authorization: `Bearer ${tenant.apiKey}`, 'content-type': 'application/json' },
      body: JSON.stringify({
        model: 'test/model',
        max_tokens: 200,
        messages: [{ role: 'user', content: text }],
        ...fields,
      }),
    });
  }

  it('is kept alive by comments, then ends with the error chunk once it was idle for too long', async () => {
    const text = await (await ask('[[fault:stall:3]]', { stream: true })).text();
    const comments = text.split('\n\n').filter((event) => event === ': keep-alive');
    expect(comments.length).toBeGreaterThan(1);
    const events = text.split('\n\n').filter((event) => event.startsWith('data: '));
    expect(events.at(-1)).toBe('data: [DONE]');
    expect(JSON.parse(events.at(-2)?.slice(6) ?? '')).toMatchObject({
      choices: [{ index: 0, delta: { content: '' }, finish_reason: 'error' }],
      error: { code: 'request_timeout', type: 'timeout_error', metadata: {} },
    });
    await nothingReserved(testEnv.gateway.baseUrl, tenant.apiKey);
  });

  it('ends with the error chunk when it takes too long in all, though never idle', async () => {
    const text = await (await ask('[[tokens:200]] [[rate:10]]', { stream: true })).text();
    const events = text.split('\n\n').filter((event) => event.startsWith('data: '));
    expect(events.at(-1)).toBe('data: [DONE]');
    expect(events.length).toBeGreaterThan(10);
    expect(JSON.parse(events.at(-2)?.slice(6) ?? '')).toMatchObject({ error: { code: 'request_timeout' } });
    await nothingReserved(testEnv.gateway.baseUrl, tenant.apiKey);
  });

  it('is a plain 408 when nothing was sent yet, streamed or not, and costs nothing', async () => {
    const before = await tenant.balance();
    for (const stream of [true, false]) {
      const response = await ask('[[fault:hang]]', { stream });
      expect(response.status).toBe(408);
      expect(await response.json()).toMatchObject({ error: { code: 'request_timeout' } });
    }
    await nothingReserved(testEnv.gateway.baseUrl, tenant.apiKey);
    expect((await tenant.balance()).total_usage_usd).toBe(before.total_usage_usd);
  });
});

describe('a reader that hardly reads', () => {
  const SLOW_READERS = 4;
  const TOKENS = 131_072;
  /** Each connection on the way fills up to what the system lends it, and through a cluster there are twice as many. */
  const SHARE_ON_THE_WAY = testsCluster() ? 0.8 : 0.5;
  let testEnv: TestEnv;
  let tenant: Tenant;

  beforeAll(async () => {
    testEnv = await startTestEnv({ modelsFile: writeModelsFile() });
    tenant = await testEnv.tenant();
  });

  afterAll(() => testEnv?.stop());

  it('holds the provider back instead of filling the memory, and gets all of its stream in the end', async () => {
    const body = {
      model: 'test/model',
      stream: true,
      max_tokens: TOKENS,
      messages: [{ role: 'user', content: `[[tokens:${TOKENS}]] Hello` }],
    };
    const ask = () => postRaw(testEnv.gateway.baseUrl, tenant.apiKey, body);
    const slow = Array.from({ length: SLOW_READERS }, ask);
    for (const reader of slow) {
      await reader.until('data: ');
      reader.pause();
    }
    // Were the slow ones' answers gathered, they would be complete when this one is.
    const whole = await ask().until('data: [DONE]');
    expect(whole.length).toBeGreaterThan(20 * MIB);
    const stats = await statsOf(testEnv);
    expect(stats).toMatchObject({ in_flight: SLOW_READERS, completed: 1 });
    // What the provider got rid of is in the sockets on the way or in the gateway: a part of each stream, not most of it.
    const ofWhole = whole.split('\n\n').length;
    const ofSlow = (stats.chunks - ofWhole) / SLOW_READERS;
    expect(ofSlow).toBeLessThan(ofWhole * SHARE_ON_THE_WAY);

    const [first, ...rest] = slow;
    for (const reader of rest) reader.close();
    const text = await first!.until('data: [DONE]');
    expect(text.split('"finish_reason":"stop"').length).toBe(2);
    expect(text).not.toContain('"error"');
    await nothingReserved(testEnv.gateway.baseUrl, tenant.apiKey);
  });
});
