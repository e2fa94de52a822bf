import OpenAI from 'openai';
import { request as httpRequest } from 'node:http';
import { startModelEmulator, type ModelEmulator } from './index';

let emulator: ModelEmulator;
let client: OpenAI;

beforeAll(async () => {
  emulator = await startModelEmulator();
  client = new OpenAI({ baseURL: emulator.url, apiKey: 'sk-any', maxRetries: 0, logLevel: 'off' });
});
afterAll(() => emulator.close());
beforeEach(() => emulator.reset());

interface Raw {
  readonly status: number;
  readonly headers: Record<string, string | string[] | undefined>;
  readonly body: string;
  /** The connection ended before the response was complete. */
  readonly aborted: boolean;
}

/** Sends one request and reads the response, complete or not. Rejects when there is no response. */
function send(
  content: string,
  options: { stream?: boolean; model?: string; header?: string } = {},
): Promise<Raw> {
  return new Promise((resolve, reject) => {
    const request = httpRequest(
      `${emulator.url}/chat/completions`,
      {
        method: 'POST',
        agent: false,
        headers: options.header === undefined ? {} : { 'x-emulator-fault': options.header },
      },
      (response) => {
        const chunks: Buffer[] = [];
        response.on('data', (chunk: Buffer) => chunks.push(chunk));
        response.on('error', () => undefined);
        response.on('close', () =>
          resolve({
            status: response.statusCode ?? 0,
            headers: response.headers,
            body: Buffer.concat(chunks).toString(),
            aborted: !response.complete,
          }),
        );
      },
    );
    request.on('error', reject);
    request.end(
      JSON.stringify({
        model: options.model ?? 'emu-standard',
        stream: options.stream ?? false,
        ...(options.stream === true ? { stream_options: { include_usage: true } } : {}),
        messages: [{ role: 'user', content }],
      }),
    );
  });
}

const stream = (content: string) => send(content, { stream: true });
const contentChunks = (body: string) => body.match(/"content":"[^"]/g)?.length ?? 0;

/** Reads a stream with the official SDK, as a tolerant client. */
async function readBySdk(content: string): Promise<{ text: string; tokens: number | undefined }> {
  let text = '';
  let tokens: number | undefined;
  const chunks = await client.chat.completions.create({
    model: 'emu-standard',
    messages: [{ role: 'user', content }],
    stream: true,
    stream_options: { include_usage: true },
  });
  for await (const chunk of chunks) {
    text += chunk.choices[0]?.delta.content ?? '';
    tokens = chunk.usage?.completion_tokens ?? tokens;
  }
  return { text, tokens };
}

describe('before the first byte', () => {
  it.each([400, 401, 403, 404, 408, 429, 500, 502, 503, 504])(
    'returns an error object with status %i',
    async (status) => {
      const response = await send(`x [[fault:${status}]]`);
      expect(response.status).toBe(status);
      expect(JSON.parse(response.body)).toHaveProperty('error.message');
      expect(emulator.stats().by_fault).toEqual({ [status]: 1 });
    },
  );

  it('sends retry-after with a 429, and with other statuses on request', async () => {
    expect((await send('x [[fault:429]]')).headers['retry-after']).toBe('1');
    expect((await send('x [[fault:503:7]]')).headers['retry-after']).toBe('7');
  });

  it('cuts the connection', async () => {
    await expect(stream('x [[fault:cut-before]]')).rejects.toThrow('socket hang up');
    expect(emulator.stats()).toMatchObject({ cut: 1, completed: 0, in_flight: 0 });
  });

  it('hangs until the client cancels', async () => {
    const abort = new AbortController();
    const call = client.chat.completions.create(
      { model: 'emu-standard', messages: [{ role: 'user', content: 'x [[fault:hang]]' }] },
      { signal: abort.signal },
    );
    await emulator.until((stats) => (stats.by_fault['hang'] ?? 0) === 1);
    abort.abort();
    await expect(call).rejects.toBeInstanceOf(OpenAI.APIUserAbortError);
    await emulator.until((stats) => stats.cancelled === 1 && stats.in_flight === 0);
  });

  it('returns HTML, a redirect or an empty body', async () => {
    expect(await send('x [[fault:html]]')).toMatchObject({
      status: 502,
      body: expect.stringContaining('<html>'),
    });
    expect(await send('x [[fault:redirect]]')).toMatchObject({ status: 307 });
    expect(await stream('x [[fault:empty]]')).toMatchObject({ status: 200, body: '', aborted: false });
  });

  it('delays a correct response', async () => {
    expect(await send('x [[fault:slow-first-byte:20]]')).toMatchObject({ status: 200, aborted: false });
    expect(await stream('x [[delay:20]]')).toMatchObject({ status: 200, aborted: false });
  });

  it('returns OpenAI’s context length error', async () => {
    const response = await send('x [[fault:context-length]]');
    expect(JSON.parse(response.body)).toMatchObject({ error: { code: 'context_length_exceeded' } });
  });
});

describe('mid-stream', () => {
  it('cuts the connection after the given number of chunks', async () => {
    const response = await stream('x [[fault:cut-after:5]]');
    expect(response.aborted).toBe(true);
    expect(contentChunks(response.body)).toBe(5);
    expect(emulator.stats()).toMatchObject({ cut: 1 });
  });

  it('stalls after the given number of chunks until the client disconnects', async () => {
    const abort = new AbortController();
    const chunks = await client.chat.completions.create(
      { model: 'emu-standard', stream: true, messages: [{ role: 'user', content: 'x [[fault:stall:2]]' }] },
      { signal: abort.signal },
    );
    let seen = 0;
    for await (const chunk of chunks) {
      if (chunk.choices[0]?.delta.content && ++seen === 2) abort.abort();
    }
    expect(seen).toBe(2);
    await emulator.until((stats) => stats.cancelled === 1 && stats.in_flight === 0);
  });

  it('sends a chunk that is not JSON', async () => {
    await expect(readBySdk('x [[fault:malformed-chunk:1]]')).rejects.toThrow(SyntaxError);
  });

  it('sends an error event', async () => {
    await expect(readBySdk('x [[fault:error-event:1]]')).rejects.toBeInstanceOf(OpenAI.APIError);
  });

  it('ends early without a finish reason, usage or [DONE]', async () => {
    const response = await stream('x [[fault:end-early:4]]');
    expect(response.aborted).toBe(false);
    expect(contentChunks(response.body)).toBe(4);
    expect(response.body).not.toMatch(/\[DONE\]|"finish_reason":"|prompt_tokens/);
  });

  it('omits only [DONE]', async () => {
    const response = await stream('x [[fault:no-done]]');
    expect(response.body).toContain('prompt_tokens');
    expect(response.body).not.toContain('[DONE]');
  });

  it('ends with content_filter', async () => {
    expect((await stream('x [[fault:content-filter]]')).body).toContain('"finish_reason":"content_filter"');
  });
});

describe('usage', () => {
  it.each([false, true])('is omitted (stream: %s)', async (streamed) => {
    const response = await send('x [[fault:no-usage]]', { stream: streamed });
    expect(response.body).not.toContain('prompt_tokens');
    expect(response.aborted).toBe(false);
  });

  it.each([false, true])('has the given numbers (stream: %s)', async (streamed) => {
    const response = await send('x [[fault:wrong-usage:1000:7]]', { stream: streamed });
    expect(response.body).toContain('"prompt_tokens":1000,"completion_tokens":7,"total_tokens":1007');
  });
});

describe('legal but unusual framing has the same text', () => {
  it.each([
    'crlf',
    'comments',
    'multi-line',
    'byte-by-byte',
    'no-done',
    'crlf]][[fault:comments]][[fault:multi-line]][[fault:byte-by-byte',
  ])('%s', async (faults) => {
    const say = '[[say:Grüße, 世界 🎉 and on]]';
    const plain = await readBySdk(`${say} [[fault:none]]`);
    expect(plain.text).toBe('Grüße, 世界 🎉 and on');
    expect(await readBySdk(`${say} [[fault:${faults}]]`)).toEqual(plain);
  });

  it('a huge chunk', async () => {
    const { text, tokens } = await readBySdk('x [[fault:huge-chunk:200000]]');
    expect(text).toHaveLength(200000);
    expect(tokens).toBe(16_384);
  });
});

describe('not streaming', () => {
  it('cuts or corrupts the body in the middle', async () => {
    const cut = await send('x [[fault:cut-after]]');
    expect(cut.aborted).toBe(true);
    expect(cut.body.length).toBeGreaterThan(0);
    const malformed = await send('x [[fault:malformed-chunk]]');
    expect(malformed.aborted).toBe(false);
    expect(() => JSON.parse(malformed.body)).toThrow(SyntaxError);
  });

  it('sends one byte at a time', async () => {
    const response = await send('x [[fault:byte-by-byte]]');
    expect(JSON.parse(response.body)).toHaveProperty('choices');
  });
});

describe('the sources of faults', () => {
  it('are a header, a model suffix and the last user message', async () => {
    expect((await send('x', { header: '503' })).status).toBe(503);
    expect((await send('x', { model: 'emu-small+fault:404' })).status).toBe(404);
    const response = await client.chat.completions.create({
      model: 'emu-small+tokens:3',
      messages: [
        { role: 'user', content: '[[fault:503]]' },
        { role: 'assistant', content: '[[fault:503]]' },
        { role: 'user', content: 'fine' },
      ],
    });
    expect(response.usage?.completion_tokens).toBe(3);
    expect(response.model).toBe('emu-small+tokens:3');
  });

  it('can fail the first calls with a prompt', async () => {
    const statuses: number[] = [];
    for (let attempt = 0; attempt < 4; attempt++) {
      statuses.push((await send('x [[fault:fail-first:2:429:3]]')).status);
    }
    expect(statuses).toEqual([429, 429, 200, 200]);
    expect((await send('y [[fault:fail-first:2:500]]')).status).toBe(500);
  });

  it('include global faults at a rate, deterministic by seed, except for exempt calls', async () => {
    const admin = (path: string, body?: unknown) =>
      fetch(
        `${emulator.adminUrl}/${path}`,
        body === undefined ? {} : { method: 'POST', body: JSON.stringify(body) },
      );
    const run = async () => {
      await admin('faults', { rate: 0.5, kinds: ['503', '429'], seed: 42 });
      const statuses: number[] = [];
      for (let index = 0; index < 40; index++) statuses.push((await send('x')).status);
      return statuses;
    };
    const first = await run();
    expect(await run()).toEqual(first);
    expect(new Set(first)).toEqual(new Set([200, 503, 429]));
    await admin('faults', { rate: 1, kinds: ['503'] });
    expect((await send('x [[fault:none]]')).status).toBe(200);
    expect((await admin('faults', { rate: 1, kinds: ['typo'] })).status).toBe(400);
    expect((await admin('reset', {})).status).toBe(200);
    expect((await send('x')).status).toBe(200);
  });
});

describe('the admin endpoints', () => {
  it('return the recent requests, without the key, and the counters', async () => {
    await client.chat.completions.create({
      model: 'emu-small',
      messages: [{ role: 'user', content: 'seen' }],
    });
    await send('x [[fault:500]]');
    await emulator.until((stats) => stats.in_flight === 0);
    const stats: unknown = await (await fetch(`${emulator.adminUrl}/stats`)).json();
    expect(stats).toMatchObject({
      received: 2,
      completed: 2,
      by_status: { 200: 1, 500: 1 },
      by_fault: { 500: 1 },
    });
    const { data } = (await (await fetch(`${emulator.adminUrl}/requests`)).json()) as { data: unknown[] };
    expect(data).toMatchObject([
      { status: 200, outcome: 'completed', body: expect.stringContaining('seen') },
      { status: 500, faults: ['500'] },
    ]);
    expect(JSON.stringify(data)).not.toContain('sk-any');
  });

  it('exist under the SDK’s base URL, too, and return 404 for unknown paths', async () => {
    const viaBase = await fetch(`${emulator.url}/_emulator/faults`);
    expect(await viaBase.json()).toMatchObject({ rate: 0, known: expect.arrayContaining(['stall', '503']) });
    expect((await fetch(`${emulator.adminUrl}/fautls`)).status).toBe(404);
  });

  it('return only the last 200 requests', async () => {
    for (let index = 0; index < 450; index++) await send('[[fault:500]]');
    const seen = emulator.requests();
    expect(seen).toHaveLength(200);
    expect(seen.at(-1)?.sequence).toBe(seen[0]!.sequence + 199);
  });

  it('count a client that disconnects during a slow stream', async () => {
    const chunks = await client.chat.completions.create({
      model: 'emu-standard',
      stream: true,
      messages: [{ role: 'user', content: 'x [[rate:50]][[tokens:10000]]' }],
    });
    for await (const chunk of chunks) if (chunk.choices[0]?.delta.content) break;
    await emulator.until((stats) => stats.cancelled === 1 && stats.in_flight === 0);
    expect(emulator.stats().completed).toBe(0);
  });

  it('are closed with all connections in flight', async () => {
    const other = await startModelEmulator();
    const call = fetch(`${other.url}/chat/completions`, {
      method: 'POST',
      body: JSON.stringify({ model: 'emu-small', messages: [{ role: 'user', content: '[[fault:hang]]' }] }),
    });
    const broken = expect(call).rejects.toThrow();
    await other.until((stats) => stats.in_flight === 1);
    await other.close();
    await broken;
    await other.until((stats) => stats.in_flight === 0);
  });
});
