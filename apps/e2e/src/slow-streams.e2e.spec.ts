import { eventDataOf, isClusterDeployment, type Tenant } from '@gateway/test-support';
import { nothingReserved } from './testing/accounting';
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

let testEnv: TestEnv;
let tenant: Tenant;

beforeAll(async () => {
  testEnv = await startTestEnv({
    modelsFile: writeModelsFile({
      first_event_ms: 1_500,
      first_byte_ms: 1_500,
      idle_ms: 2_000,
      total_ms: 4_000,
    }),
    env: { GATEWAY_KEEP_ALIVE_COMMENT_MS: '200' },
  });
  tenant = await testEnv.tenant();
});

afterAll(() => testEnv?.stop());

describe('a stream that stalls', () => {
  function complete(text: string, fields: object = {}): Promise<Response> {
    return fetch(`${testEnv.gateway.baseUrl}/chat/completions`, {
      method: 'POST',
      headers: { authorization: `Bearer ${tenant.apiKey}`, 'content-type': 'application/json' },
      body: JSON.stringify({
        model: 'test/impatient',
        max_tokens: 200,
        messages: [{ role: 'user', content: text }],
        ...fields,
      }),
    });
  }

  it('gets keep-alive comments, then ends with an error chunk after the idle timeout', async () => {
    const text = await (await complete('[[fault:stall:3]]', { stream: true })).text();
    const comments = text.split('\n\n').filter((event) => event === ': keep-alive');
    expect(comments.length).toBeGreaterThan(1);
    const events = eventDataOf(text);
    expect(events.at(-1)).toBe('[DONE]');
    expect(JSON.parse(events.at(-2) ?? '')).toMatchObject({
      choices: [{ index: 0, delta: { content: '' }, finish_reason: 'error' }],
      error: { code: 'request_timeout', type: 'timeout_error', metadata: {} },
    });
    await nothingReserved(testEnv.gateway.baseUrl, tenant.apiKey);
  });

  it('ends with an error chunk after the total timeout, even when it was never idle', async () => {
    const text = await (await complete('[[tokens:200]] [[rate:10]]', { stream: true })).text();
    const events = eventDataOf(text);
    expect(events.at(-1)).toBe('[DONE]');
    expect(events.length).toBeGreaterThan(10);
    expect(JSON.parse(events.at(-2) ?? '')).toMatchObject({ error: { code: 'request_timeout' } });
    await nothingReserved(testEnv.gateway.baseUrl, tenant.apiKey);
  });

  it('gets status 408 before the first byte, streamed or not, and costs nothing', async () => {
    const before = await tenant.balance();
    for (const stream of [true, false]) {
      const response = await complete('[[fault:hang]]', { stream });
      expect(response.status).toBe(408);
      expect(await response.json()).toMatchObject({ error: { code: 'request_timeout' } });
    }
    await nothingReserved(testEnv.gateway.baseUrl, tenant.apiKey);
    expect((await tenant.balance()).total_usage_usd).toBe(before.total_usage_usd);
  });
});

describe('a slow reader', () => {
  const SLOW_READERS = 4;
  const TOKENS = 131_072;
  /** The share of a stream that the socket buffers on the path may hold. A cluster has twice as many connections. */
  const MAX_BUFFERED_SHARE = isClusterDeployment() ? 0.8 : 0.5;

  it('slows the provider down instead of filling the memory, and receives its full stream in the end', async () => {
    const body = {
      model: 'test/patient',
      stream: true,
      max_tokens: TOKENS,
      messages: [{ role: 'user', content: `[[tokens:${TOKENS}]] Hello` }],
    };
    const openStream = () => postRaw(testEnv.gateway.baseUrl, tenant.apiKey, body);
    const slow = Array.from({ length: SLOW_READERS }, openStream);
    for (const reader of slow) {
      await reader.until('data: ');
      reader.pause();
    }
    // If the gateway buffered the slow streams, the provider would have completed them by the end of this one.
    const full = await openStream().until('data: [DONE]');
    expect(full.length).toBeGreaterThan(20 * MIB);
    const stats = await statsOf(testEnv);
    // What the provider has sent is in socket buffers or in the gateway: a part of the streams, not most of them. One of them
    // may be complete, since the system sizes the buffers of each connection on its own.
    const fullChunks = full.split('\n\n').length;
    const slowChunks = (stats.chunks - fullChunks) / SLOW_READERS;
    expect(slowChunks).toBeLessThan(fullChunks * MAX_BUFFERED_SHARE);

    const [first, ...rest] = slow;
    for (const reader of rest) reader.close();
    const text = await first!.until('data: [DONE]');
    expect(text.split('"finish_reason":"stop"').length).toBe(2);
    expect(text).not.toContain('"error"');
    await nothingReserved(testEnv.gateway.baseUrl, tenant.apiKey);
  });
});
