import { randomUUID } from 'node:crypto';
import { request as httpRequest } from 'node:http';
import type { Tenant } from '@gateway/test-support';
import { nothingReserved, usageOnceAllCharged } from './testing/accounting';
import { joinTestEnv, type SharedTestEnv } from './testing/test-env';

jest.setTimeout(60_000);

const END = '\n\n';
const DONE = 'data: [DONE]';

interface Connection {
  readonly status: number;
  readonly generationId: unknown;
  readonly isReplayed: boolean;
  /** Complete events, in order, without comments. */
  readonly events: readonly string[];
}

describe('a stream with an Idempotency-Key and Last-Event-ID', () => {
  let testEnv: SharedTestEnv;
  let tenant: Tenant;

  beforeAll(async () => {
    testEnv = await joinTestEnv();
    tenant = await testEnv.tenant();
  });

  afterAll(() => testEnv?.stop());

  const body = (text: string) =>
    JSON.stringify({
      model: 'demo/small',
      stream: true,
      stream_options: { include_usage: true },
      max_tokens: 100,
      messages: [{ role: 'user', content: text }],
    });

  /** Opens a connection of its own, which in a cluster may reach another edge, and closes it after so many events. */
  function read(key: string, text: string, lastEventId: number, maxEvents = Infinity): Promise<Connection> {
    return new Promise((resolve, reject) => {
      const sent = httpRequest(`${testEnv.gateway.baseUrl}/chat/completions`, {
        method: 'POST',
        agent: false,
        headers: {
          authorization: `Bearer ${tenant.apiKey}`,
          'content-type': 'application/json',
          'idempotency-key': key,
          'last-event-id': String(lastEventId),
        },
      });
      sent.on('error', reject);
      sent.on('response', (response) => {
        let received = '';
        const finish = () => {
          const events = received.split(END).slice(0, -1);
          resolve({
            status: response.statusCode ?? 0,
            generationId: response.headers['x-generation-id'],
            isReplayed: response.headers['idempotent-replayed'] === 'true',
            events: events.filter((event) => !event.startsWith(':')).slice(0, maxEvents),
          });
        };
        response.setEncoding('utf8');
        response.on('data', (part: string) => {
          received += part;
          if (received.split(END).length <= maxEvents) return;
          response.destroy();
          finish();
        });
        response.on('end', finish);
      });
      sent.end(body(text));
    });
  }

  /** Repeats while the first request's settlement, or its router, leaves the key in flight. */
  async function resume(key: string, text: string, lastEventId: number, maxEvents = Infinity) {
    for (;;) {
      const connection = await read(key, text, lastEventId, maxEvents);
      if (connection.status !== 409) return connection;
      await new Promise((resolve) => setTimeout(resolve, 50));
    }
  }

  const idOf = (event: string) => Number(/^id: (\d+)$/m.exec(event)?.[1]);
  const withoutIds = (events: readonly string[]) => events.map((event) => event.replace(/^id: \d+\n/, ''));

  it('continues over many lost connections exactly where each ended, runs once and is charged once', async () => {
    const key = randomUUID();
    const text = '[[tokens:40]] [[rate:40]]';
    const before = await usageOnceAllCharged(testEnv.gateway.baseUrl, tenant.apiKey);
    const first = await read(key, text, 0, 3);
    const collected = [...first.events];
    let connections = 1;
    while (collected.at(-1) !== DONE) {
      const next = await resume(key, text, idOf(collected.at(-1) ?? ''), 5);
      expect(next).toMatchObject({ status: 200, isReplayed: true, generationId: first.generationId });
      collected.push(...next.events);
      connections += 1;
    }
    expect(connections).toBeGreaterThan(5);
    const numbered = collected.slice(0, -1);
    expect(numbered.map(idOf)).toEqual(numbered.map((_, index) => index + 1));
    expect(numbered.at(-1)).toContain('"usage":{"prompt_tokens"');

    // The stored stream is the same, event by event.
    const replayed = await resume(key, text, 0);
    expect(replayed.isReplayed).toBe(true);
    expect(replayed.events).toEqual(collected);
    const tail = await resume(key, text, numbered.length - 2);
    expect(withoutIds(tail.events)).toEqual(withoutIds(collected.slice(-3)));

    await nothingReserved(testEnv.gateway.baseUrl, tenant.apiKey);
    const after = await usageOnceAllCharged(testEnv.gateway.baseUrl, tenant.apiKey);
    expect(after.totals.requests).toBe(before.totals.requests + 1);
  });

  it('runs to its end although every client left', async () => {
    const key = randomUUID();
    const text = '[[tokens:20]] [[rate:40]]';
    const first = await read(key, text, 0, 2);
    const rest = await resume(key, text, 2);
    expect(rest.generationId).toBe(first.generationId);
    expect(rest.events.at(-1)).toBe(DONE);
    await read(key, text, 5, 1);
    const replayed = await resume(key, text, 0);
    expect(replayed.events.slice(2)).toEqual(rest.events);
  });

  it('is read by several connections at the same time', async () => {
    const key = randomUUID();
    const text = '[[tokens:20]] [[rate:20]]';
    const [first, ...others] = await Promise.all([0, 0, 0, 0].map(() => resume(key, text, 0)));
    expect(first?.events.at(-1)).toBe(DONE);
    for (const other of others) expect(other.events).toEqual(first?.events);
  });
});
