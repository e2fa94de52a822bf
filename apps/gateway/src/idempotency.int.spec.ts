import { eventually } from '@gateway/test-support';
import { ask, MODEL, type Outcome, type Question } from './testing/ask';
import { claimsChargedTwice, expectClosedBooks, holdOf, rowsOf } from './testing/books';
import { LEASE_MS, startFleet, type Fleet } from './testing/fleet';
import { foldStream } from './testing/fold-stream';
import { stallRows } from './testing/stalled-rows';

jest.setTimeout(60_000);

const IN_FLIGHT: Outcome = {
  kind: 'failed',
  status: 409,
  code: 'idempotency_key_in_flight',
  retryAfter: '2',
};

describe('an Idempotency-Key before two edges', () => {
  let fleet: Fleet;
  let counter = 0;

  beforeAll(async () => {
    fleet = await startFleet();
  });
  afterAll(() => fleet?.close());

  const at = (baseUrl: string, apiKey = fleet.apiKey) => ({ baseUrl, apiKey });
  const received = () => fleet.emulator.stats().received;

  function question(prompt: string, stream = false): Question {
    counter += 1;
    return { prompt: `${prompt} number ${counter}`, stream, idempotencyKey: `key-${counter}` };
  }

  /** How an edge answers once the key no longer is in flight. */
  function notInFlight(edge: string, asked: Question): Promise<Extract<Outcome, { kind: 'finished' }>> {
    return eventually(
      'the key is in flight no more',
      async () => {
        const outcome = await ask(at(edge), asked);
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

  it('runs once when both get it in the same millisecond', async () => {
    const before = received();
    const [one, two] = fleet.edges;
    const pairs = await Promise.all(
      Array.from({ length: 30 }, async (_, index) => {
        const asked = question('[[delay:300]] at once', index % 2 === 0);
        return { asked, outcomes: await Promise.all([one, two].map((edge) => ask(at(edge), asked))) };
      }),
    );
    expect(received() - before).toBe(pairs.length);
    for (const { asked, outcomes } of pairs) {
      const ran = outcomes.filter((outcome) => outcome.kind === 'finished' && !outcome.replayed);
      expect(ran).toHaveLength(1);
      expect(outcomes).toContainEqual(IN_FLIGHT);
      const again = await Promise.all([one, two].map((edge) => notInFlight(edge, asked)));
      for (const answer of again) expect(answer).toEqual({ ...ran[0], replayed: true });
    }
    expect(received() - before).toBe(pairs.length);
  });

  it('stays with a generation that outlasts the lease of its claim', async () => {
    const asked = question(`[[delay:${LEASE_MS + 1_500}]] long`);
    const before = received();
    const first = ask(at(fleet.edges[0]), asked);
    await fleet.emulator.until((stats) => stats.received === before + 1);
    const second = await notInFlight(fleet.edges[1], asked);
    expect(second).toEqual({ ...(await first), replayed: true });
    expect(received()).toBe(before + 1);
  });

  it('is charged once when an edge lost its lease and both edges ran it', async () => {
    const asked = question(`[[delay:${LEASE_MS + 1_500}]] taken over`);
    const before = received();
    const late = ask(at(fleet.cutOffEdge), asked);
    await fleet.emulator.until((stats) => stats.received === before + 1);
    const taker = await notInFlight(fleet.edges[0], asked);
    const loser = await late;
    if (loser.kind !== 'finished') throw new Error(`the first answer was ${loser.kind}`);
    expect(received()).toBe(before + 2);
    expect(taker.id).not.toBe(loser.id);

    const replayed = await notInFlight(fleet.edges[1], asked);
    expect(replayed.replayed).toBe(true);
    const waivedId = replayed.id === taker.id ? loser.id : taker.id;
    const waived = await eventually('the other one settles', async () => {
      const hold = await holdOf(fleet.pool, waivedId);
      return hold?.state === 'settled' ? hold : undefined;
    });
    expect(waived.charged).toBe(0n);
    expect(await holdOf(fleet.pool, replayed.id)).toMatchObject({ charged: replayed.costNanoUsd });
  });

  it('stays claimed while its settlement lags, for longer than a lease', async () => {
    const asked = question('[[delay:500]] unsettled');
    const before = received();
    const first = ask(at(fleet.edges[0]), asked);
    await fleet.emulator.until((stats) => stats.received === before + 1);
    const accounts = await stallRows(fleet.databaseUrl, 'select from billing_ledger.accounts for update');
    try {
      expect(await first).toMatchObject({ kind: 'finished' });
      expect(await ask(at(fleet.edges[1]), asked)).toEqual(IN_FLIGHT);
      const [claim] = await rowsOf<{ left: bigint }>(
        fleet.pool,
        `select lease_ends_unix_ms - $1 as left from billing_ledger.idempotency_claims where state = 'running'`,
        [Date.now()],
      );
      expect(claim?.left).toBeGreaterThan(10 * LEASE_MS);
    } finally {
      await accounts.release();
    }
    expect(await notInFlight(fleet.edges[1], asked)).toEqual({ ...(await first), replayed: true });
  });

  it('finds the whole answer after its caller disconnected, produced once and paid once', async () => {
    const cancelled = fleet.emulator.stats().cancelled;
    const body = {
      model: MODEL,
      stream: true,
      max_tokens: 60,
      stream_options: { include_usage: true },
      messages: [{ role: 'user', content: '[[tokens:40]] [[rate:40]] a caller who disconnects' }],
    };
    const hangUp = new AbortController();
    const first = await fetch(`${fleet.edges[0]}/chat/completions`, {
      method: 'POST',
      headers: {
        authorization: `Bearer ${fleet.apiKey}`,
        'content-type': 'application/json',
        'idempotency-key': 'disconnected',
      },
      body: JSON.stringify(body),
      signal: hangUp.signal,
    });
    await first.body?.getReader().read();
    hangUp.abort();

    const replay = await eventually(
      'the answer is stored',
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

  it('means one body: its order and spacing do not count, anything else does, also the stream flag', async () => {
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
    const expectRefused = async () => {
      for (const other of others) {
        const response = await post(fleet.edges[1], other, 'one body');
        expect(response.status).toBe(422);
        expect(await response.json()).toMatchObject({ error: { code: 'idempotency_key_reused' } });
      }
    };
    await expectRefused();
    const answer = await (await first).text();
    await expectRefused();

    const reordered = `{ "messages": [{"content": "[[delay:800]] one body", "role": "user"}],
      "max_tokens": 2e1, "model": ${JSON.stringify(MODEL)} }`;
    const replay = await eventually('the answer is stored', async () => {
      const response = await post(fleet.edges[1], reordered, 'one body');
      return response.status === 409 ? undefined : response;
    });
    expect(replay.headers.get('idempotent-replayed')).toBe('true');
    expect(await replay.text()).toBe(answer);

    // Another API key knows nothing of it.
    const foreign = await post(fleet.edges[1], others[0], 'one body', fleet.otherApiKey);
    expect(foreign.status).toBe(200);
    expect(foreign.headers.get('idempotent-replayed')).toBeNull();
  });

  it.each([
    ['500', false, { status: 502, code: 'upstream_error' }],
    ['503', true, { status: 503, code: 'no_capacity' }],
  ])(
    'is free again after a provider that answered %s to every attempt (stream: %s)',
    async (status, stream, failure) => {
      const asked = question(`[[fault:fail-first:3:${status}]] fails`, stream);
      const first = await ask(at(fleet.edges[0]), asked);
      expect(first).toMatchObject({ kind: 'failed', ...failure });
      expect(await notInFlight(fleet.edges[1], asked)).toMatchObject({ kind: 'finished', replayed: false });
    },
  );

  it('is free again after a stream that broke off', async () => {
    const asked = question('[[fault:cut-after:5]] breaks', true);
    const before = received();
    for (const edge of fleet.edges) {
      await eventually('the key is free', async () => {
        const outcome = await ask(at(edge), asked);
        if (outcome.kind === 'failed' && outcome.status === 409) return undefined;
        expect(outcome).toMatchObject({ kind: 'failed', status: 200, code: 'upstream_error' });
        return true;
      });
    }
    expect(received()).toBe(before + 2);
  });

  it.each([true, false])(
    'replays a stream of tool calls as it was (include_usage: %s)',
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
      const replay = await eventually('the answer is stored', async () => {
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

  it('is never charged twice, in all of the above', async () => {
    await expectClosedBooks(fleet.pool);
    const brokenOff = await rowsOf<{ id: string }>(
      fleet.pool,
      `select id from usage.generations where finish_reason = 'error'`,
    );
    // What a broken stream produced is paid, and its key is free to run again.
    expect(brokenOff).toHaveLength(2);
    const twice = (await claimsChargedTwice(fleet.pool)) as { generations: string[] }[];
    const broken = new Set(brokenOff.map(({ id }) => id));
    expect(twice.filter(({ generations }) => !generations.every((id) => broken.has(id)))).toEqual([]);
  });
});
