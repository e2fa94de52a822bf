import type { Tenant } from '@gateway/test-support';
import { setMaxListeners } from 'node:events';
import http from 'node:http';
import { setTimeout as delay } from 'node:timers/promises';
import { nothingReserved } from './testing/accounting';
import { writeModelsFile } from './testing/models-file';
import { startTestEnv, type TestEnv } from './testing/test-env';

jest.setTimeout(180_000);

const KIB = 1024;
const MIB = 1024 * KIB;
const MAX_CONCURRENT = 16;
const NORMAL_REQUESTS = 20;
/** How long the greedy client waits after a refusal. */
const PAUSE_MS = 250;
const SLOW = { first_event_ms: 60_000, first_byte_ms: 60_000, idle_ms: 60_000, total_ms: 120_000 };

/** Ways to use what organizations share. Each row sends as many at once as `parallel` until it is aborted. */
const kinds: Record<string, { readonly parallel: number; readonly body: (index: number) => object }> = {
  'slow streams': {
    parallel: 2 * MAX_CONCURRENT,
    body: () => ({ stream: true, max_tokens: 500, messages: user('[[tokens:500]] [[rate:5]]') }),
  },
  'large bodies': {
    parallel: 12,
    // White space is no token, so that only the memory is scarce.
    body: (index) => ({ max_tokens: 1, messages: user(`${' '.repeat(512 * KIB)} ${index}`) }),
  },
  'long prompts': {
    parallel: 80,
    body: (index) => ({ max_tokens: 1, messages: user(`word${index} `.repeat(4_000)) }),
  },
};

const user = (content: string) => [{ role: 'user', content }];

describe('while one organization sends as much as it can', () => {
  let testEnv: TestEnv;
  let greedy: Tenant;
  let normal: Tenant;

  beforeAll(async () => {
    testEnv = await startTestEnv({
      modelsFile: writeModelsFile(SLOW, { max_concurrent: MAX_CONCURRENT }),
      env: { GATEWAY_MAX_INFLIGHT_BODY_BYTES: String(4 * MIB) },
    });
    greedy = await testEnv.tenant({ credit: '10000' });
    normal = await testEnv.tenant();
  });
  afterAll(() => testEnv?.stop());

  async function send({ apiKey }: Tenant, body: object, signal?: AbortSignal): Promise<string> {
    const response = await fetch(`${testEnv.gateway.baseUrl}/chat/completions`, {
      method: 'POST',
      headers: { authorization: `Bearer ${apiKey}`, 'content-type': 'application/json' },
      body: JSON.stringify({ model: 'test/patient', ...body }),
      ...(signal && { signal }),
    });
    const text = await response.text();
    if (response.ok) return 'ok';
    return (JSON.parse(text) as { error: { code: string } }).error.code;
  }

  /** Uploads that stall keep what they have sent in memory. */
  function stalledUpload(signal: AbortSignal): void {
    const headers = { authorization: `Bearer ${greedy.apiKey}`, 'content-length': String(2 * MIB) };
    const url = `${testEnv.gateway.baseUrl}/chat/completions`;
    const upload = http.request(url, { method: 'POST', headers, signal });
    upload.on('error', () => undefined).on('response', (response) => response.resume());
    upload.write(' '.repeat(MIB));
  }

  it('refuses no request of another one', async () => {
    const abort = new AbortController();
    const { signal } = abort;
    setMaxListeners(0, signal);
    const codes = new Map(Object.keys(kinds).map((name) => [name, new Set<string>()]));
    const running = Object.entries(kinds).flatMap(([name, { parallel, body }]) =>
      Array.from({ length: parallel }, async (_, worker) => {
        for (let index = worker; !signal.aborted; index += parallel) {
          const code = await send(greedy, body(index), signal).catch(() => 'aborted');
          codes.get(name)?.add(code);
          if (code !== 'ok') await delay(PAUSE_MS);
        }
      }),
    );
    for (let upload = 0; upload < 4; upload += 1) stalledUpload(signal);
    await delay(3_000);

    const ofNormal: string[] = [];
    for (let index = 0; index < NORMAL_REQUESTS; index += 1) {
      // Every fourth one uses the threads, too.
      const content = index % 4 === 0 ? `other${index} `.repeat(4_000) : 'Hello';
      ofNormal.push(await send(normal, { stream: index % 2 === 0, max_tokens: 5, messages: user(content) }));
      await delay(50);
    }
    abort.abort();
    await Promise.all(running);

    expect(ofNormal).toEqual(ofNormal.map(() => 'ok'));
    // Each kind was scarce, and refused as such only.
    for (const refused of codes.values()) {
      refused.delete('ok');
      refused.delete('aborted');
      expect([...refused]).toEqual(['no_capacity']);
    }
    await nothingReserved(testEnv.gateway.baseUrl, normal.apiKey);
  });
});
