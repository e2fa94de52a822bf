import { createTenant, eventually, signIn, type AdminClient, type KeySettings } from '@gateway/test-support';
import { MODEL } from './testing/chat-completion';
import { startCrashTestEnv, type CrashTestEnv } from './testing/crash-test-env';
import { expectEverythingSettled, rowsOf } from './testing/ledger-checks';

jest.setTimeout(300_000);

/** 1 sends what a few seconds allow; 20 is about a minute. */
const SCALE = Number(process.env['GATEWAY_TEST_ONE_KEY_SCALE'] ?? 1);
const REQUESTS = 1_000 * SCALE;
const REQUESTS_PER_MINUTE = 5;
const IN_FLIGHT = 20;
/** Per minute: 20 times the key's requests. */
const MAX_INVALID = 100;
const MIB = 1024 * 1024;
/** The growth of the process, however much is sent. The journals of streams may have 128 MiB of it. */
const MAX_GROWTH_BYTES = 400 * MIB;
/** Hours that the test may run in, times error codes of one model or none. */
const MAX_ERROR_COUNTS = 2 * 16;

/** Whatever a client can vary, so that something could be stored for each of its requests. */
const variantsOf = (index: number) => ({
  headers: {
    'idempotency-key': `order ${index}`,
    'x-run-id': `run-${index}`,
    'x-run-budget-usd': '1',
    'x-request-id': `request-${index}`,
    traceparent: `00-${index.toString(16).padStart(32, '1')}-${'1'.repeat(16)}-01`,
  },
  body: { user: `user-${index}`, prompt_cache_key: `cache-${index}` },
});

interface Sent {
  readonly headers?: Record<string, string>;
  readonly body?: object;
  readonly content?: string;
  /** The client leaves after the first bytes. */
  readonly leaves?: true;
}

interface Kind {
  readonly name: string;
  readonly key: KeySettings;
  /** Fewer than REQUESTS where each one is expensive. */
  readonly requests?: number;
  readonly send: (index: number) => Sent;
}

const SLOW: KeySettings = { requests_per_minute: REQUESTS_PER_MINUTE };

/** What one key can send without end. Each row is a kind of it. */
const kinds: readonly Kind[] = [
  { name: 'requests above its limit', key: SLOW, send: variantsOf },
  { name: 'bodies that the provider rejects', key: SLOW, send: () => ({ content: '[[fault:400]]' }) },
  {
    name: 'unknown models',
    key: SLOW,
    send: (index) => ({ ...variantsOf(index), body: { model: `unknown/${index}` } }),
  },
  {
    name: 'invalid API keys',
    key: SLOW,
    send: (index) => ({ headers: { authorization: `Bearer sk-gw-invented-${index}` } }),
  },
  {
    name: 'streams to resume, whose client leaves',
    key: { requests_per_minute: 100_000 },
    requests: 120 * SCALE,
    send: (index) => ({
      headers: { 'idempotency-key': `stream ${index}`, 'last-event-id': '0' },
      body: { stream: true, max_tokens: 4_000 },
      content: '[[tokens:4000]] [[rate:0]]',
      leaves: true,
    }),
  },
];

describe('what one key makes the gateway keep', () => {
  let testEnv: CrashTestEnv;
  let admin: AdminClient;

  beforeAll(async () => {
    testEnv = await startCrashTestEnv({ env: { GATEWAY_MAX_INVALID_REQUESTS_PER_MINUTE: '40' } });
    const { dashboardUrl, adminEmail, adminPassword } = testEnv.gateway;
    admin = await signIn(dashboardUrl, adminEmail, adminPassword);
  });
  afterAll(() => testEnv?.close());

  async function chat(apiKey: string, { headers, body, content = 'Hello', leaves }: Sent): Promise<number> {
    const messages = [{ role: 'user', content }];
    const response = await fetch(`${testEnv.gateway.baseUrl}/chat/completions`, {
      method: 'POST',
      headers: { authorization: `Bearer ${apiKey}`, 'content-type': 'application/json', ...headers },
      body: JSON.stringify({ model: MODEL, max_tokens: 5, messages, ...body }),
    });
    if (leaves) await response.body?.cancel();
    else await response.arrayBuffer();
    return response.status;
  }

  /** Sends the requests, IN_FLIGHT at a time. @returns how many had each status. */
  async function sendAll(
    count: number,
    send: (index: number) => Promise<number>,
  ): Promise<Map<number, number>> {
    const statuses = new Map<number, number>();
    let next = 0;
    const worker = async (): Promise<void> => {
      while (next < count) {
        const status = await send((next += 1));
        statuses.set(status, (statuses.get(status) ?? 0) + 1);
      }
    };
    await Promise.all(Array.from({ length: IN_FLIGHT }, worker));
    return statuses;
  }

  async function countOf(table: string, organizationId: string): Promise<number> {
    const [row] = await rowsOf<{ count: bigint }>(
      testEnv.pool,
      `select count(*) from ${table} where organization_id = '${organizationId}'`,
    );
    return Number(row?.count);
  }

  async function residentBytes(): Promise<number> {
    const text = await (await fetch(new URL('/metrics', testEnv.gateway.adminUrl))).text();
    const bytes = Number(/^process_resident_memory_bytes(?:\{.*?\})? (\S+)/m.exec(text)?.[1]);
    if (!(bytes > 0)) throw new Error('the metrics have no resident memory');
    return bytes;
  }

  it.each(kinds)('is bounded by what was admitted, for $name', async ({ key, send, requests = REQUESTS }) => {
    const { apiKey, organizationId } = await createTenant(admin, { key, credit: '1000.00' });
    const before = await residentBytes();
    const startedAt = Date.now();
    const statuses = await sendAll(requests, (index) => chat(apiKey, send(index)));
    const growth = (await residentBytes()) - before;
    await expectEverythingSettled(testEnv.pool);

    const admitted = await countOf('closed_holds', organizationId);
    const minutes = Math.floor((Date.now() - startedAt) / 60_000) + 2;
    // Until the edge knows that the limit refuses, holds are placed while the limit is checked.
    expect(admitted).toBeLessThanOrEqual(minutes * ((key.requests_per_minute ?? 0) + IN_FLIGHT));
    expect(admitted).toBeLessThanOrEqual(requests);
    expect(growth).toBeLessThan(MAX_GROWTH_BYTES);
    await eventually('refused claims are deleted', async () =>
      (await countOf('idempotency_claims', organizationId)) <= admitted ? true : undefined,
    );
    expect(await countOf('runs', organizationId)).toBeLessThanOrEqual(admitted);
    expect(await countOf('open_holds', organizationId)).toBe(0);
    // One credit, and hold, charge and return of each.
    expect(await countOf('postings', organizationId)).toBeLessThanOrEqual(1 + 3 * admitted);
    expect(await countOf('usage.generations', organizationId)).toBeLessThanOrEqual(admitted);
    expect(await countOf('usage.error_counts_hourly', organizationId)).toBeLessThanOrEqual(MAX_ERROR_COUNTS);
    // Only the latest 20 rows of one code are kept.
    expect(await countOf('usage.refused_requests', organizationId)).toBeLessThanOrEqual(
      20 * MAX_ERROR_COUNTS,
    );
    // The others were refused: no row shows whether the limits or the abuse limit did.
    const refused = [401, 404, 429].reduce((sum, status) => sum + (statuses.get(status) ?? 0), 0);
    expect(refused).toBeGreaterThanOrEqual(requests - admitted - minutes * MAX_INVALID);
  });
});
