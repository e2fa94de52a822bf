import { eventually } from '@gateway/test-support';
import { complete, MODEL, type Outcome, type ChatRequest } from './testing/chat-completion';
import { claimsChargedTwice, expectEverythingSettled, holdOf, rowsOf } from './testing/ledger-checks';
import { LEASE_MS, startFleet, type Fleet } from './testing/fleet';
import { foldStream } from './testing/fold-stream';
import { lockRows } from './testing/row-lock';

jest.setTimeout(60_000);

const IN_FLIGHT: Outcome = {
  kind: 'failed',
  status: 409,
  code: 'idempotency_key_in_flight',
  retryAfter: '2',
};

describe('an Idempotency-Key with two edges', () => {
  let fleet: Fleet;
  let counter = 0;

  beforeAll(async () => {
    fleet = await startFleet();
  });
  afterAll(() => fleet?.close());

  const at = (baseUrl: string, apiKey = fleet.apiKey) => ({ baseUrl, apiKey });
  const received = () => fleet.emulator.stats().received;

  function newRequest(prompt: string, stream = false): ChatRequest {
    counter += 1;
    return { prompt: `${prompt} number ${counter}`, stream, idempotencyKey: `key-${counter}` };
  }

  /** Retries until the key is no longer in flight. */
  function retryUntilFinished(
    edge: string,
    request: ChatRequest,
  ): Promise<Extract<Outcome, { kind: 'finished' }>> {
    return eventually(
      'the key is no longer in flight',
      async () => {
        const outcome = await complete(at(edge), request);
        if (outcome.kind === 'finished') return outcome;
        expect(outcome).toEqual(IN_FLIGHT);
        return undefined;
      },
      { pollMs: 100 },
    );
  }

  function post(edge: string, body: unknown, key: string, apiKey = fleet.apiKey): Promise<Response> {
    return fetch(`${edge}/chat/completions`, {
      method: 'POST',
      headers: {
        authorization: `Bearer ${apiKey}`,
        'content-type': 'application/json',
        'idempotency-key': key,
      },
      body: typeof body === 'string' ? body : JSON.stringify(body),
    });
  }

  it('runs once when both edges receive it concurrently', async () => {
    const before = received();
    const [one, two] = fleet.edges;
    const pairs = await Promise.all(
      Array.from({ length: 30 }, async (_, index) => {
        const request = newRequest('[[delay:300]] concurrent', index % 2 === 0);
        return {
          request,
          outcomes: await Promise.all([one, two].map((edge) => complete(at(edge), request))),
        };
      }),
    );
    expect(received() - before).toBe(pairs.length);
    for (const { request, outcomes } of pairs) {
      const ran = outcomes.filter((outcome) => outcome.kind === 'finished' && !outcome.replayed);
      expect(ran).toHaveLength(1);
      expect(outcomes).toContainEqual(IN_FLIGHT);
      const replays = await Promise.all([one, two].map((edge) => retryUntilFinished(edge, request)));
      for (const replay of replays) expect(replay).toEqual({ ...ran[0], replayed: true });
    }
    expect(received() - before).toBe(pairs.length);
  });

  it('stays claimed by a generation that runs longer than a lease', async () => {
    const request = newRequest(`[[delay:${LEASE_MS + 1_500}]] long`);
    const before = received();
    const first = complete(at(fleet.edges[0]), request);
    await fleet.emulator.until((stats) => stats.received === before + 1);
    const second = await retryUntilFinished(fleet.edges[1], request);
    expect(second).toEqual({ ...(await first), replayed: true });
    expect(received()).toBe(before + 1);
  });

  it('is charged once when an edge lost its lease and both edges have run the request', async () => {
    const request = newRequest(`[[delay:${LEASE_MS + 1_500}]] taken over`);
    const before = received();
    const late = complete(at(fleet.cutOffEdge), request);
    await fleet.emulator.until((stats) => stats.received === before + 1);
    const winner = await retryUntilFinished(fleet.edges[0], request);
    const loser = await late;
    if (loser.kind !== 'finished') throw new Error(`the first outcome was ${loser.kind}`);
    expect(received()).toBe(before + 2);
    expect(winner.id).not.toBe(loser.id);

    const replayed = await retryUntilFinished(fleet.edges[1], request);
    expect(replayed.replayed).toBe(true);
    const waivedId = replayed.id === winner.id ? loser.id : winner.id;
    const waived = await eventually('the other generation is settled', async () => {
      const hold = await holdOf(fleet.pool, waivedId);
      return hold?.state === 'settled' ? hold : undefined;
    });
    expect(waived.charged).toBe(0n);
    expect(await holdOf(fleet.pool, replayed.id)).toMatchObject({ charged: replayed.costNanoUsd });
  });

  it('stays claimed longer than a lease while its settlement is delayed', async () => {
    const request = newRequest('[[delay:500]] unsettled');
    const before = received();
    const first = complete(at(fleet.edges[0]), request);
    await fleet.emulator.until((stats) => stats.received === before + 1);
    const accounts = await lockRows(fleet.databaseUrl, 'select from billing_ledger.accounts for update');
    try {
      expect(await first).toMatchObject({ kind: 'finished' });
      expect(await complete(at(fleet.edges[1]), request)).toEqual(IN_FLIGHT);
      const [claim] = await rowsOf<{ left: bigint }>(
        fleet.pool,
        `select lease_ends_unix_ms - $1 as left from billing_ledger.idempotency_claims where state = 'running'`,
        [Date.now()],
      );
      expect(claim?.left).toBeGreaterThan(10 * LEASE_MS);
    } finally {
      await accounts.release();
    }
    expect(await retryUntilFinished(fleet.edges[1], request)).toEqual({ ...(await first), replayed: true });
  });

  it('replays the complete response after the client disconnected, with one generation and one charge', async () => {
    const cancelled = fleet.emulator.stats().cancelled;
    const body = {
      model: MODEL,
      stream: true,
      max_tokens: 60,
      stream_options: { include_usage: true },
      messages: [{ role: 'user', content: '[[tokens:40]] [[rate:40]] a client that disconnects' }],
    };
    const abort = new AbortController();
    const first = await fetch(`${fleet.edges[0]}/chat/completions`, {
      method: 'POST',
      headers: {
        authorization: `Bearer ${fleet.apiKey}`,
        'content-type': 'application/json',
        'idempotency-key': 'disconnected',
      },
      body: JSON.stringify(body),
      signal: abort.signal,
    });
    await first.body?.getReader().read();
    abort.abort();

    const replay = await eventually(
      'the response is stored',
      async () => {
        const response = await post(fleet.edges[1], body, 'disconnected');
        const text = await response.text();
        return response.status === 409 ? undefined : { response, text };
      },
      { pollMs: 100 },
    );
    expect(replay.response.headers.get('idempotent-replayed')).toBe('true');
    const folded = foldStream(replay.text);
    expect(folded).toMatchObject({
      id: first.headers.get('x-generation-id'),
      finishReasons: ['stop'],
      usage: { completion_tokens: 40 },
    });
    expect(fleet.emulator.stats().cancelled).toBe(cancelled);
  });

  it('belongs to one body: member order and whitespace do not matter, but any other difference does', async () => {
    const body = {
      model: MODEL,
      max_tokens: 20,
      messages: [{ role: 'user', content: '[[delay:800]] one body' }],
    };
    const before = received();
    const first = post(fleet.edges[0], body, 'one body');
    await fleet.emulator.until((stats) => stats.received === before + 1);
    const others = [
      { ...body, max_tokens: 21 },
      { ...body, stream: true },
      { ...body, messages: [{ role: 'user', content: '[[delay:800]] one  body' }] },
    ];
    const expectRejected = async () => {
      for (const other of others) {
        const response = await post(fleet.edges[1], other, 'one body');
        expect(response.status).toBe(422);
        expect(await response.json()).toMatchObject({ error: { code: 'idempotency_key_reused' } });
      }
    };
    await expectRejected();
    const firstBody = await (await first).text();
    await expectRejected();

    const reordered = `{ "messages": [{"content": "[[delay:800]] one body", "role": "user"}],
      "max_tokens": 2e1, "model": ${JSON.stringify(MODEL)} }`;
    const replay = await eventually('the response is stored', async () => {
      const response = await post(fleet.edges[1], reordered, 'one body');
      return response.status === 409 ? undefined : response;
    });
    expect(replay.headers.get('idempotent-replayed')).toBe('true');
    expect(await replay.text()).toBe(firstBody);

    // Keys are scoped to the API key.
    const foreign = await post(fleet.edges[1], others[0], 'one body', fleet.otherApiKey);
    expect(foreign.status).toBe(200);
    expect(foreign.headers.get('idempotent-replayed')).toBeNull();
  });

  it.each([
    ['500', false, { status: 502, code: 'upstream_error' }],
    ['503', true, { status: 503, code: 'no_capacity' }],
  ])(
    'can be reused after the provider returned %s to every attempt (stream: %s)',
    async (status, stream, failure) => {
      const request = newRequest(`[[fault:fail-first:3:${status}]] fails`, stream);
      const first = await complete(at(fleet.edges[0]), request);
      expect(first).toMatchObject({ kind: 'failed', ...failure });
      expect(await retryUntilFinished(fleet.edges[1], request)).toMatchObject({
        kind: 'finished',
        replayed: false,
      });
    },
  );

  it('can be reused after a broken stream', async () => {
    const request = newRequest('[[fault:cut-after:5]] breaks', true);
    const before = received();
    for (const edge of fleet.edges) {
      await eventually('the claim is released', async () => {
        const outcome = await complete(at(edge), request);
        if (outcome.kind === 'failed' && outcome.status === 409) return undefined;
        expect(outcome).toMatchObject({ kind: 'failed', status: 200, code: 'upstream_error' });
        return true;
      });
    }
    expect(received()).toBe(before + 2);
  });

  it.each([true, false])(
    'replays a stream of tool calls unchanged (include_usage: %s)',
    async (includeUsage) => {
      const body = {
        model: 'demo/standard',
        stream: true,
        ...(includeUsage ? { stream_options: { include_usage: true } } : {}),
        messages: [{ role: 'user', content: '[[calls:2]] What is the weather?' }],
        tools: [
          {
            type: 'function',
            function: {
              name: 'weather',
              parameters: { type: 'object', properties: { city: { type: 'string' } }, required: ['city'] },
            },
          },
        ],
      };
      const key = `tools ${includeUsage}`;
      const first = await (await post(fleet.edges[0], body, key)).text();
      const replay = await eventually('the response is stored', async () => {
        const response = await post(fleet.edges[1], body, key);
        return response.status === 409 ? undefined : response;
      });
      expect(replay.headers.get('content-type')).toBe('text/event-stream; charset=utf-8');
      expect(replay.headers.get('idempotent-replayed')).toBe('true');
      const folded = foldStream(first);
      expect(foldStream(await replay.text())).toEqual(folded);
      expect(folded.toolCalls).toHaveLength(2);
      expect(folded.finishReasons).toEqual(['tool_calls']);
      expect(folded.usage === undefined).toBe(!includeUsage);
    },
  );

  it('is never charged twice in any of these tests', async () => {
    await expectEverythingSettled(fleet.pool);
    const brokenOff = await rowsOf<{ id: string }>(
      fleet.pool,
      `select id from usage.generations where finish_reason = 'error' and cost_nano_usd > 0`,
    );
    // A broken stream is charged for its tokens, and its key can run again.
    expect(brokenOff).toHaveLength(2);
    const twice = (await claimsChargedTwice(fleet.pool)) as { generations: string[] }[];
    const broken = new Set(brokenOff.map(({ id }) => id));
    expect(twice.filter(({ generations }) => !generations.every((id) => broken.has(id)))).toEqual([]);
  });
});
