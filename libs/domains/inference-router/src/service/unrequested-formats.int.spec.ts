import { brotliCompressSync, deflateSync, gzipSync } from 'node:zlib';
import { startModelEmulator, type ModelEmulator } from '@gateway/model-emulator';
import { UsageSource } from '@gateway/contracts/common';
import { emulatedModel } from '../testing/emulated-targets';
import { publicCompletionOf } from '../testing/public-message';
import { generateRequest, RouterUnderTest } from '../testing/router-under-test';
import { ScriptedProvider, type Script, type SeenCall } from '../testing/scripted-provider';

/** Servers and proxies that ignore `stream` or `accept-encoding`: the emulator's responses, in another form. */
let emulator: ModelEmulator;
let upstream: ScriptedProvider;
let router: RouterUnderTest;

const dialects = ['openai', 'anthropic', 'gemini'] as const;

beforeAll(async () => {
  [emulator, upstream] = await Promise.all([startModelEmulator(), ScriptedProvider.start()]);
  const proxied = { ...emulator, url: upstream.url };
  router = await RouterUnderTest.start([
    ...dialects.map((dialect) => emulatedModel(proxied, dialect, { model: { id: dialect } })),
  ]);
});
afterAll(async () => {
  await router.stop();
  await Promise.all([upstream.stop(), emulator.close()]);
});
beforeEach(() => (router.events.length = 0));

const encodings = {
  identity: (bytes: Buffer) => bytes,
  gzip: gzipSync,
  deflate: deflateSync,
  br: brotliCompressSync,
} as const;

/** Calls the emulator with the other value of `stream`. */
function flipped({ body, path }: SeenCall): { path: string; body: object } {
  const isStream = body['stream'] === true || path.includes(':streamGenerateContent');
  const other = isStream
    ? path.replace(':streamGenerateContent?alt=sse', ':generateContent')
    : path.replace(':generateContent', ':streamGenerateContent?alt=sse');
  if (!('stream' in body)) return { path: other, body };
  const { stream_options: _, ...rest } = body;
  return {
    path: other,
    body: {
      ...rest,
      stream: !isStream,
      ...(isStream || !path.includes('chat') ? {} : { stream_options: { include_usage: true } }),
    },
  };
}

const proxy =
  (encoding: keyof typeof encodings, callOf: (call: SeenCall) => { path: string; body: object }): Script =>
  async (response, call) => {
    const { path, body } = callOf(call);
    const { host: _, 'content-length': __, connection: ___, ...headers } = call.headers;
    const received = await fetch(new URL(path, emulator.url), {
      method: 'POST',
      headers: headers as Record<string, string>,
      body: JSON.stringify(body),
    });
    const type = received.headers.get('content-type') ?? '';
    response.writeHead(received.status, {
      'content-type': type,
      ...(encoding === 'identity' ? {} : { 'content-encoding': encoding }),
    });
    response.end(encodings[encoding](Buffer.from(await received.arrayBuffer())));
  };

const WEATHER = { type: 'function', function: { name: 'get_weather', parameters: { type: 'object' } } };
const bodies = {
  text: { messages: [{ role: 'user', content: 'Hi' }] },
  'tool calls': {
    messages: [{ role: 'user', content: 'The weather?' }],
    tools: [WEATHER],
    tool_choice: 'required',
  },
};

const send = (modelId: string, stream: boolean, body: object) =>
  router.collect(
    generateRequest({
      modelId,
      stream,
      includeUsage: stream,
      maxOutputTokens: 2_000,
      bodyJson: Buffer.from(JSON.stringify(body)),
      inputParts: { images: 0, estimatedImageTokens: 0, hasDefinitions: true },
      estimatedInputTokens: 20,
    }),
  );

/** Ids of calls are created, and a stream that starts with a call may have an empty text. */
const normalized = (value: unknown): unknown =>
  JSON.parse(
    JSON.stringify(value)
      .replace(/"id":"[^"]*"/g, '"id":""')
      .replace('"content":null', '"content":""'),
  );

const as = (call: SeenCall) => ({ path: call.path, body: call.body });

describe.each(dialects)('%s', (dialect) => {
  describe.each(Object.keys(bodies) as (keyof typeof bodies)[])('with %s', (kind) => {
    const complete = async (stream: boolean, script: Script) => {
      upstream.play(script);
      const collected = await send(dialect, stream, bodies[kind]);
      expect(collected.error).toBeUndefined();
      const [event] = router.events.splice(0);
      expect(event?.usageSource).toBe(UsageSource.USAGE_SOURCE_PROVIDER);
      return normalized(publicCompletionOf(collected));
    };

    it.each([
      ['JSON in place of a stream', true],
      ['a stream in place of JSON', false],
    ])('%s is the same completion', async (_case, stream) => {
      const requested = await complete(stream, proxy('identity', as));
      expect(await complete(stream, proxy('identity', flipped))).toEqual(requested);
      expect(upstream.calls).toHaveLength(1);
    });

    it.each(['gzip', 'deflate', 'br'] as const)('%s that was not accepted is read', async (encoding) => {
      for (const stream of [true, false])
        expect(await complete(stream, proxy(encoding, as))).toEqual(
          await complete(stream, proxy('identity', as)),
        );
    });
  });

  it('a compressed error is read', async () => {
    upstream.play((response) => {
      response.writeHead(400, { 'content-type': 'application/json', 'content-encoding': 'gzip' });
      response.end(gzipSync(JSON.stringify({ error: { message: 'temperature: no' } })));
    });
    const { error } = await send(dialect, true, bodies.text);
    expect(error).toMatchObject({ code: 'invalid_request', message: expect.stringContaining('no') });
  });
});

it.each([
  ['gzip that is cut', { 'content-encoding': 'gzip' }, gzipSync('{"choices":[]}').subarray(0, 20)],
  ['an unknown encoding', { 'content-encoding': 'x-snail' }, Buffer.from('@@@')],
  ['JSON that is cut', {}, Buffer.from('{"choices":[{"message":{"content":"Hi"')],
  ['text', {}, Buffer.from('hello')],
])('%s is a failure of the provider', async (_case, headers, bytes) => {
  for (const stream of [true, false]) {
    upstream.play((response) => {
      response.writeHead(200, headers);
      response.end(bytes);
    });
    expect((await send('openai', stream, bodies.text)).error).toMatchObject({ code: 'upstream_error' });
  }
});
