import {
  ApiError,
  FunctionCallingConfigMode,
  GoogleGenAI,
  ThinkingLevel,
  type Content,
  type GenerateContentParameters,
  type GenerateContentResponse,
} from '@google/genai';
import { startModelEmulator, type ModelEmulator } from '../../index';
import { countTokens } from '../../tokens';

const PNG_2X3 = Buffer.concat([
  Buffer.from([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a, 0, 0, 0, 13]),
  Buffer.from('IHDR'),
  Buffer.from([0, 0, 0, 2, 0, 0, 0, 3, 8, 2, 0, 0, 0]),
]).toString('base64');

const WEATHER = {
  name: 'get_weather',
  parametersJsonSchema: {
    type: 'object',
    properties: { city: { type: 'string' }, days: { type: 'integer', minimum: 1, maximum: 7 } },
    required: ['city', 'days'],
  },
};
const TOOLS = [{ functionDeclarations: [WEATHER] }];

let emulator: ModelEmulator;
let client: GoogleGenAI;

beforeAll(async () => {
  emulator = await startModelEmulator({ apiKeys: ['test-key'] });
  client = clientWith('test-key');
});
afterAll(() => emulator.close());
beforeEach(() => emulator.reset());

function clientWith(apiKey: string): GoogleGenAI {
  const baseUrl = new URL(emulator.url).origin;
  // Without its own `fetch`, the SDK looks for a global of Node.js that jest hides.
  return new GoogleGenAI({ apiKey, httpOptions: { baseUrl, fetch } });
}

const requestFor = (contents: GenerateContentParameters['contents'], model = 'emu-standard') => ({
  model,
  contents,
});

async function collect(params: GenerateContentParameters): Promise<GenerateContentResponse[]> {
  const events: GenerateContentResponse[] = [];
  for await (const event of await client.models.generateContentStream(params)) events.push(event);
  return events;
}

const partsOf = (events: readonly GenerateContentResponse[]) =>
  events.flatMap(({ candidates }) => candidates?.[0]?.content?.parts ?? []);

async function apiError(call: Promise<unknown>): Promise<{ status: number; error: Record<string, unknown> }> {
  const thrown = await call.then(
    () => undefined,
    (error: unknown) => error,
  );
  if (!(thrown instanceof ApiError)) throw new Error(`expected an ApiError, got ${String(thrown)}`);
  const { error } = JSON.parse(thrown.message) as { error: Record<string, unknown> };
  return { status: thrown.status, error };
}

/** A request as JSON, for what the SDK does not send. */
async function post(path: string, body: object): Promise<{ status: number; text: string }> {
  const response = await fetch(`${new URL(emulator.url).origin}${path}`, {
    method: 'POST',
    headers: { 'x-goog-api-key': 'test-key', 'content-type': 'application/json' },
    body: JSON.stringify(body),
  });
  return { status: response.status, text: await response.text() };
}

describe('the SDK of Google reads the wire format', () => {
  it('of a response, with its tokens', async () => {
    const response = await client.models.generateContent(requestFor('hello'));
    expect(response.text).toContain('hello');
    expect(response.candidates?.[0]?.finishReason).toBe('STOP');
    const { promptTokenCount = 0, candidatesTokenCount, totalTokenCount } = response.usageMetadata ?? {};
    expect(candidatesTokenCount).toBe(countTokens(response.text ?? ''));
    expect(totalTokenCount).toBe(promptTokenCount + (candidatesTokenCount ?? 0));
  });

  it('of a stream, whose events report the tokens so far', async () => {
    const params = requestFor('hello [[tokens:40]]');
    const response = await client.models.generateContent(params);
    const events = await collect(params);
    expect(events.map(({ text }) => text ?? '').join('')).toBe(response.text);
    const counts = events.map(({ usageMetadata }) => usageMetadata?.candidatesTokenCount ?? 0);
    expect(counts).toEqual(Array.from({ length: 40 }, (_, index) => index + 1));
    const finishes = events.map(({ candidates }) => candidates?.[0]?.finishReason);
    expect(finishes.filter((reason) => reason !== undefined)).toEqual(['STOP']);
    expect(finishes.at(-1)).toBe('STOP');
  });

  it('ends lines with CR and LF, and the stream without [DONE]', async () => {
    const body = { contents: [{ role: 'user', parts: [{ text: 'hi [[tokens:3]]' }] }] };
    const { text } = await post('/v1beta/models/emu-standard:streamGenerateContent?alt=sse', body);
    expect(text.split('\r\n\r\n')).toHaveLength(4);
    expect(text.replaceAll('\r\n', '')).not.toMatch(/[\r\n]|\[DONE\]/);
    const path = '/v1/projects/p/locations/eu/publishers/google/models/emu-standard:generateContent';
    expect((await post(path, body)).status).toBe(200);
  });

  it('of parameters', async () => {
    const response = await client.models.generateContent({
      ...requestFor('vary [[tokens:50]]'),
      config: {
        systemInstruction: 'Be brief.',
        maxOutputTokens: 7,
        candidateCount: 2,
        temperature: 0,
        topP: 1,
        topK: 3,
        seed: 7,
        responseLogprobs: true,
        logprobs: 2,
        presencePenalty: 0,
        frequencyPenalty: 0,
        stopSequences: ['never'],
      },
    });
    const [first, second] = response.candidates ?? [];
    expect(first?.finishReason).toBe('MAX_TOKENS');
    expect(second?.content?.parts?.[0]?.text).not.toBe(first?.content?.parts?.[0]?.text);
    expect(response.usageMetadata?.candidatesTokenCount).toBe(14);
    expect(first?.logprobsResult?.chosenCandidates?.map(({ token }) => token).join('')).toBe(
      first?.content?.parts?.[0]?.text,
    );
    expect(first?.logprobsResult?.topCandidates?.[0]?.candidates).toHaveLength(2);
  });

  it('of JSON that matches a schema, and of images', async () => {
    const schema = {
      type: 'object',
      properties: { score: { type: 'integer', minimum: 5, maximum: 6 } },
      required: ['score'],
    };
    const response = await client.models.generateContent({
      ...requestFor('rate'),
      config: { responseMimeType: 'application/json', responseJsonSchema: schema },
    });
    expect([5, 6]).toContain((JSON.parse(response.text ?? '') as { score: number }).score);
    const image = { inlineData: { mimeType: 'image/png', data: PNG_2X3 } };
    expect(
      (await client.models.generateContent(requestFor([image, { text: 'see' }], 'emu-vision'))).text,
    ).toContain('2x3');
  });

  it('of thoughts, on request only, which count in addition to the candidates', async () => {
    const params = requestFor('think', 'emu-reasoner');
    const config = { thinkingConfig: { includeThoughts: true, thinkingLevel: ThinkingLevel.LOW } };
    const response = await client.models.generateContent({ ...params, config });
    const [thought, text] = response.candidates?.[0]?.content?.parts ?? [];
    expect(thought?.thought).toBe(true);
    expect(text?.thoughtSignature).toBeDefined();
    expect(response.usageMetadata?.thoughtsTokenCount).toBe(32);
    expect(response.usageMetadata?.candidatesTokenCount).toBe(countTokens(text?.text ?? ''));
    const silent = await client.models.generateContent(params);
    expect(silent.usageMetadata?.thoughtsTokenCount).toBe(128);
    expect(silent.candidates?.[0]?.content?.parts).toHaveLength(1);
    const none = await client.models.generateContent({
      ...params,
      config: { thinkingConfig: { thinkingBudget: 0 } },
    });
    expect(none.usageMetadata?.thoughtsTokenCount).toBeUndefined();
    const some = await client.models.generateContent({
      ...params,
      config: { thinkingConfig: { thinkingBudget: 200 } },
    });
    expect(some.usageMetadata?.thoughtsTokenCount).toBe(128);
  });
});

describe('a loop of function calls', () => {
  const ask: Content = { role: 'user', parts: [{ text: 'get_weather [[calls:2]]' }] };
  const config = {
    tools: TOOLS,
    toolConfig: { functionCallingConfig: { mode: FunctionCallingConfigMode.AUTO } },
  };
  const results: Content = {
    role: 'user',
    parts: ['dry', 'wet'].map((output) => ({
      functionResponse: { name: 'get_weather', response: { output } },
    })),
  };

  it('finishes with STOP, without ids, and signs the first of parallel calls', async () => {
    const params = { ...requestFor([ask], 'emu-reasoner'), config };
    const response = await client.models.generateContent(params);
    const parts = response.candidates?.[0]?.content?.parts ?? [];
    expect(response.candidates?.[0]?.finishReason).toBe('STOP');
    expect(parts.map(({ functionCall }) => functionCall?.name)).toEqual(['get_weather', 'get_weather']);
    expect(parts.every(({ functionCall }) => functionCall?.id === undefined)).toBe(true);
    expect(parts.map(({ thoughtSignature }) => thoughtSignature !== undefined)).toEqual([true, false]);
    const events = await collect(params);
    expect(partsOf(events)).toEqual(parts);
    expect(events.at(-1)?.usageMetadata).toEqual(response.usageMetadata);

    const next = await client.models.generateContent({
      ...params,
      contents: [ask, { role: 'model', parts }, results],
    });
    expect(next.text).toContain('tool returned a result');
  });

  it('requires the signature of the current turn, or its documented replacement', async () => {
    const call = { functionCall: { name: 'get_weather', args: { city: 'x', days: 1 } } };
    const turn = (signature?: string): Content => ({
      role: 'model',
      parts: [{ ...call, ...(signature === undefined ? {} : { thoughtSignature: signature }) }, call],
    });
    const next = (contents: Content[], model = 'emu-reasoner') =>
      client.models.generateContent({ ...requestFor(contents, model), config });
    await next([ask, turn('skip_thought_signature_validator'), results]);
    await next([ask, turn(), results, { role: 'user', parts: [{ text: 'thanks' }] }]);
    await next([ask, turn(), results], 'emu-standard');
    expect((await apiError(next([ask, turn(), results]))).error['message']).toContain(
      'missing a thought_signature',
    );
    expect((await apiError(next([ask, turn('QQ=='), results]))).error['message']).toContain('not valid');
  });

  it('requires the signature of a text on the same text', async () => {
    const params = requestFor('hello', 'emu-reasoner');
    const question: Content = { role: 'user', parts: [{ text: 'hello' }] };
    const streamed = partsOf(await collect(params));
    const signature = streamed.at(-1)?.thoughtSignature;
    const text = streamed.map((part) => part.text ?? '').join('');
    expect(signature).toBeDefined();
    const next = (parts: Content['parts']) =>
      client.models.generateContent(
        requestFor([question, { role: 'model', parts }, question], 'emu-reasoner'),
      );
    await next([{ text }, { text: '', thoughtSignature: signature }]);
    await apiError(next([{ text: text.slice(1) }, { text: '', thoughtSignature: signature }]));
  });

  it('requires a result for each call, with its name', async () => {
    const model: Content = { role: 'model', parts: [{ functionCall: { name: 'get_weather', args: {} } }] };
    const result = (name: string): Content => ({
      role: 'user',
      parts: [{ functionResponse: { name, response: {} } }],
    });
    const next = (...contents: Content[]) =>
      client.models.generateContent({ ...requestFor(contents), config });
    await next(ask, model, result('get_weather'));
    expect(await apiError(next(ask, model, result('other')))).toMatchObject({ status: 400 });
    expect(await apiError(next(ask, model, ask))).toMatchObject({ status: 400 });
    expect(await apiError(next(ask, result('get_weather')))).toMatchObject({ status: 400 });
  });

  it('is forced or forbidden by the calling mode', async () => {
    const call = (functionCallingConfig: object) =>
      client.models.generateContent({
        ...requestFor('hi'),
        config: { tools: TOOLS, toolConfig: { functionCallingConfig } },
      });
    expect((await call({ mode: FunctionCallingConfigMode.NONE })).functionCalls).toBeUndefined();
    expect((await call({ mode: FunctionCallingConfigMode.ANY })).functionCalls).toHaveLength(1);
    const named = { mode: FunctionCallingConfigMode.ANY, allowedFunctionNames: ['get_weather'] };
    expect((await call(named)).functionCalls?.[0]?.name).toBe('get_weather');
  });
});

describe('errors', () => {
  it('have the form of google.rpc.Status', async () => {
    expect(await apiError(clientWith('wrong').models.generateContent(requestFor('hi')))).toMatchObject({
      status: 401,
      error: { code: 401, status: 'UNAUTHENTICATED' },
    });
    expect(await apiError(client.models.generateContent(requestFor('hi', 'unknown')))).toMatchObject({
      status: 404,
      error: { status: 'NOT_FOUND' },
    });
    const limited = await apiError(client.models.generateContent(requestFor('x [[fault:429:7]]')));
    expect(limited).toMatchObject({
      status: 429,
      error: {
        status: 'RESOURCE_EXHAUSTED',
        details: [{ '@type': 'type.googleapis.com/google.rpc.RetryInfo', retryDelay: '7s' }],
      },
    });
    const long = await apiError(client.models.generateContent(requestFor('x [[fault:context-length]]')));
    expect(long.error['message']).toMatch(
      /^The input token count \(\d+\) exceeds the maximum number of tokens/,
    );
  });

  it.each([
    [400, 'INVALID_ARGUMENT'],
    [403, 'PERMISSION_DENIED'],
    [500, 'INTERNAL'],
    [503, 'UNAVAILABLE'],
    [504, 'DEADLINE_EXCEEDED'],
  ])('by a fault have status %i and %s', async (status, name) => {
    expect(await apiError(client.models.generateContent(requestFor(`x [[fault:${status}]]`)))).toMatchObject({
      status,
      error: { code: status, status: name },
    });
  });

  it('reveal unknown fields', async () => {
    const contents = [{ role: 'user', parts: [{ text: 'hi' }] }];
    const path = '/v1beta/models/emu-standard:generateContent';
    for (const body of [
      { contents, messages: [] },
      { contents, generationConfig: { max_tokens: 1 } },
      { contents: [{ role: 'assistant', parts: [{ text: 'hi' }] }] },
      { contents: [{ role: 'user', parts: [] }] },
      { contents: [] },
      { contents, generationConfig: { thinkingConfig: {} } },
    ]) {
      expect(await post(path, body)).toMatchObject({
        status: 400,
        text: expect.stringContaining('INVALID_ARGUMENT'),
      });
    }
  });

  it('refuse several candidates in a stream', async () => {
    const params = { ...requestFor('hi'), config: { candidateCount: 2 } };
    expect(await apiError(collect(params))).toMatchObject({ status: 400 });
  });
});

describe('faults in the middle of a stream', () => {
  const stream = (fault: string) =>
    post('/v1beta/models/emu-standard:streamGenerateContent?alt=sse', {
      contents: [{ role: 'user', parts: [{ text: `x [[tokens:20]] [[fault:${fault}]]` }] }],
    });
  const eventsIn = (text: string) => text.split('\r\n\r\n').filter((event) => event.startsWith('data: '));

  it('cut the connection after the given number of events', async () => {
    await expect(stream('cut-after:5')).rejects.toThrow();
    expect(emulator.stats()).toMatchObject({ cut: 1, chunks: 5 });
  });

  it('send an error, an unreadable event, or an early end', async () => {
    const failed = eventsIn((await stream('error-event:3')).text);
    expect(failed).toHaveLength(4);
    expect(failed.at(-1)).toContain('"status":"INTERNAL"');
    const malformed = eventsIn((await stream('malformed-chunk:3')).text);
    expect(() => JSON.parse(malformed.at(-1)?.slice('data: '.length) ?? '') as unknown).toThrow(SyntaxError);
    const early = await stream('end-early:3');
    expect(eventsIn(early.text)).toHaveLength(3);
    expect(early.text).not.toContain('finishReason');
  });

  it('change the reported usage and the finish reason', async () => {
    expect((await stream('no-usage')).text).not.toContain('usageMetadata');
    const wrong = eventsIn((await stream('wrong-usage:9:8')).text).at(-1);
    expect(wrong).toContain('"promptTokenCount":9,"candidatesTokenCount":8');
    expect((await stream('content-filter')).text).toContain('"finishReason":"SAFETY"');
  });

  it.each(['crlf', 'byte-by-byte', 'no-done', 'huge-chunk:2000'])(
    'leave the stream legal: %s',
    async (fault) => {
      const events = await collect(requestFor(`x [[tokens:5]] [[fault:${fault}]]`));
      expect(events.at(-1)?.candidates?.[0]?.finishReason).toBe('STOP');
    },
  );

  it.each(['comments', 'multi-line'])(
    'leave the stream legal, though the SDK cannot read it: %s',
    async (fault) => {
      const { text } = await stream(fault);
      const blocks = text.split('\r\n\r\n').map((block) => block.split('\r\n'));
      const data = blocks.map((lines) =>
        lines.flatMap((line) => /^data: (.*)/.exec(line)?.[1] ?? []).join('\n'),
      );
      const events = data
        .filter((json) => json !== '')
        .map((json) => JSON.parse(json) as GenerateContentResponse);
      expect(events).toHaveLength(20);
      expect(events.at(-1)?.candidates?.[0]?.finishReason).toBe('STOP');
    },
  );
});
