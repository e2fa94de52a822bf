import { startModelEmulator, type ModelEmulator } from '@gateway/model-emulator';
import { UsageSource } from '@gateway/contracts/common';
import type { GenerateRequest } from '@gateway/contracts/inference-router';
import { dialects, type DialectName } from '../core/dialects/registry';
import { emulatedModel } from '../testing/emulated-targets';
import { publicCompletionOf } from '../testing/public-message';
import {
  deferred,
  freeGeneration,
  generateRequest,
  model,
  provider,
  RouterUnderTest,
  TARGET_OPTIONS,
  withRouter,
} from '../testing/router-under-test';
import {
  completion,
  failure,
  json,
  ScriptedProvider,
  type Script,
  type SeenCall,
} from '../testing/scripted-provider';

/** Streams with a JSON response format, from providers that stream it and from those that do not. */
let emulator: ModelEmulator;
let upstream: ScriptedProvider;
let router: RouterUnderTest;

const names = Object.keys(dialects) as DialectName[];
const WHOLE = { refusesJsonStreams: true };

beforeAll(async () => {
  [emulator, upstream] = await Promise.all([startModelEmulator(), ScriptedProvider.start()]);
  const proxied = { ...emulator, url: upstream.url };
  router = await RouterUnderTest.start([
    ...names.map((name) => emulatedModel(proxied, name, { model: { id: name } })),
    ...names.map((name) => emulatedModel(proxied, name, { options: WHOLE, model: { id: `whole ${name}` } })),
    model([provider('groq', `${new URL(emulator.url).origin}/groq/v1`)], {
      ...{ id: 'groq', contextLength: 131_072, maxOutputTokens: 16_384 },
      targets: [groq()],
    }),
  ]);
});
afterAll(async () => {
  await router.stop();
  await Promise.all([upstream.stop(), emulator.close()]);
});
beforeEach(() => (router.events.length = 0));

function groq() {
  return {
    provider: provider('groq', `${new URL(emulator.url).origin}/groq/v1`),
    ...{ providerModel: 'emu-standard', signer: 'signer-groq', weight: 1, retryTimeouts: true },
    options: { ...TARGET_OPTIONS, ...WHOLE },
  };
}

const toEmulator: Script = async (response, { path, text, headers: sent }) => {
  const { host: _, 'content-length': __, connection: ___, ...headers } = sent;
  const received = await fetch(new URL(path, emulator.url), {
    ...{ method: 'POST', headers: headers as Record<string, string>, body: text },
  });
  response.writeHead(received.status, { 'content-type': received.headers.get('content-type') ?? '' });
  response.end(Buffer.from(await received.arrayBuffer()));
};

const SCHEMA = {
  type: 'object',
  properties: { city: { type: 'string' }, size: { type: 'integer' } },
  required: ['city', 'size'],
  additionalProperties: false,
};
const FORMAT = { type: 'json_schema', json_schema: { name: 'place', schema: SCHEMA } };
const bodyOf = (fields: object = {}) => ({
  bodyJson: Buffer.from(
    JSON.stringify({
      messages: [{ role: 'user', content: 'Which city?' }],
      response_format: FORMAT,
      ...fields,
    }),
  ),
  inputParts: { images: 0, estimatedImageTokens: 0, hasDefinitions: true },
  ...{ maxOutputTokens: 500, estimatedInputTokens: 20 },
});
const jsonRequest = (modelId: string, changes: Partial<GenerateRequest> = {}) =>
  generateRequest({
    ...{ modelId, stream: true, includeUsage: true, jsonResponse: true, ...bodyOf(), ...changes },
  });

/** Whether the provider was called for a stream, in the terms of its protocol. */
const isStreamCall = ({ path, body }: SeenCall) =>
  path.includes(':streamGenerateContent') || path.endsWith('/converse-stream') || body['stream'] === true;

const contentsOf = (chunks: readonly object[]) =>
  (chunks as { choices: { delta: { content?: string } }[] }[])
    .map(({ choices }) => choices[0]?.delta.content)
    .filter(Boolean);

describe.each(names)('%s', (name) => {
  const collect = async (modelId: string, changes: Partial<GenerateRequest> = {}) => {
    upstream.play(toEmulator);
    const collected = await router.collect(jsonRequest(modelId, changes));
    expect(collected.error).toBeUndefined();
    expect(upstream.calls.map(isStreamCall)).toEqual([
      !modelId.startsWith('whole') && changes.stream !== false,
    ]);
    const [event] = router.events.splice(0);
    expect(event?.usageSource).toBe(UsageSource.USAGE_SOURCE_PROVIDER);
    return { ...collected, completion: publicCompletionOf(collected), event };
  };

  it('streams JSON where the provider does, with the schema in the request', async () => {
    const { chunks, completion: received } = await collect(name);
    expect(contentsOf(chunks).length).toBeGreaterThan(2);
    expect(JSON.parse(received.message.content ?? '')).toMatchObject({ city: expect.any(String) });
    expect(upstream.calls[0]?.text).toContain('city');
  });

  it('requests JSON whole from a provider that does not, and sends it in one chunk, with the same usage and cost', async () => {
    const streamed = await collect(name);
    const whole = await collect(`whole ${name}`);
    const direct = await collect(name, { stream: false, includeUsage: false });
    expect(contentsOf(whole.chunks)).toEqual([streamed.completion.message.content]);
    expect(whole.completion).toEqual(streamed.completion);
    expect(direct.completion).toEqual({
      ...whole.completion,
      message: { ...whole.completion.message, refusal: null },
    });
    expect(whole.event?.usage).toEqual(streamed.event?.usage);
    expect(whole.event).toMatchObject({ streamed: true, finishReason: 'stop' });
    expect(whole.event?.timeToFirstTokenMs).toBeDefined();
    expect(whole.finished?.costNanoUsd).toBe(direct.finished?.costNanoUsd);
  });

  it('streams text from a provider that does not stream JSON', async () => {
    upstream.play(toEmulator);
    const { error, chunks } = await router.collect(
      jsonRequest(`whole ${name}`, { jsonResponse: false, ...bodyOf({ response_format: undefined }) }),
    );
    expect(error).toBeUndefined();
    expect(upstream.calls.map(isStreamCall)).toEqual([true]);
    expect(contentsOf(chunks).length).toBeGreaterThan(2);
  });

  it('ends JSON that the output limit cuts with "length", streamed or whole', async () => {
    for (const modelId of [name, `whole ${name}`]) {
      const { completion: cut, event } = await collect(modelId, { maxOutputTokens: 4 });
      expect(cut.finishReason).toBe('length');
      expect(() => JSON.parse(cut.message.content ?? '') as unknown).toThrow();
      expect(event).toMatchObject({ finishReason: 'length', usage: { completionTokens: 4 } });
    }
  });
});

it('calls a server with the rules of Groq, which refuses both, without stream', async () => {
  const { error, chunks } = await router.collect(jsonRequest('groq'));
  expect(error).toBeUndefined();
  expect(contentsOf(chunks)).toHaveLength(1);
});

describe('JSON that is requested whole', () => {
  const scripted = (changes = {}) => [
    model([], {
      targets: [
        { ...groq(), provider: provider('one', upstream.url, { maxAttempts: 1, ...changes }) },
        { ...groq(), provider: provider('two', upstream.url), options: TARGET_OPTIONS },
      ],
    }),
  ];
  const request = (changes: Partial<GenerateRequest> = {}) => jsonRequest('acme/m-1', changes);
  const romanCity = json(
    completion({ content: '{"city":"Rome"}' }, { prompt_tokens: 20, completion_tokens: 5, total_tokens: 25 }),
  );

  it('is retried at the next target, as a stream if that streams JSON', async () => {
    await withRouter(scripted(), async (router) => {
      upstream.play(failure(500), romanCity);
      const { error } = await router.collect(request());
      expect(error).toBeUndefined();
      expect(upstream.calls.map(isStreamCall)).toEqual([false, true]);
    });
  });

  it('fails with the error of a provider that reports one, before anything was sent', async () => {
    await withRouter(scripted(), async (router) => {
      upstream.play(failure(400, { message: 'the schema is invalid', type: 'invalid_request_error' }));
      const { error, sse } = await router.collect(request());
      expect(error).toMatchObject({ code: 'invalid_request' });
      expect(sse).toBe('');
      expect(router.events).toEqual([freeGeneration({ errorCode: 'invalid_request' })]);
    });
  });

  it('owes its prompt when it is cancelled while the provider works, and closes that connection', async () => {
    const seen = deferred();
    const cut = deferred();
    upstream.play((_response, call) => {
      seen.resolve();
      void call.cut.then(cut.resolve);
    });
    await withRouter(scripted(), async (router) => {
      const client = new AbortController();
      const running = router.collect(request(), { signal: client.signal });
      await seen.promise;
      client.abort();
      await cut.promise;
      await running;
      expect(router.events).toMatchObject([
        { cancelled: true, usage: { promptTokens: 20, completionTokens: 0 } },
      ]);
    });
  });

  it('may be silent for as long as a response that is not streamed', async () => {
    const { timeouts } = provider('one', upstream.url);
    const silent = scripted({ timeouts: { ...timeouts, firstEventMs: 30 } });
    await withRouter(silent, async (router) => {
      upstream.play(async (response, call) => {
        await new Promise((resolve) => setTimeout(resolve, 120));
        await romanCity(response, call);
      });
      const { error } = await router.collect(request());
      expect(error).toBeUndefined();
      expect(upstream.calls).toHaveLength(1);
    });
  });

  it('can be followed by a client that lost its connection, and is stored with its events', async () => {
    const seen = deferred();
    const release = deferred();
    upstream.play(async (response, call) => {
      seen.resolve();
      await release.promise;
      await romanCity(response, call);
    });
    await withRouter(scripted(), async (router) => {
      const resumable = request({ resumable: true, idempotencyScope: 'scope' });
      const first = router.collect(resumable);
      await seen.promise;
      const { generationId, organizationId } = resumable;
      const follower = router.handlers
        .followGeneration(
          { generationId, organizationId, afterEvent: 0 },
          { signal: new AbortController().signal, metadata: {} },
        )
        [Symbol.asyncIterator]();
      const followed = follower.next();
      release.resolve();
      const { sse } = await first;
      const { value } = await followed;
      expect(value).toMatchObject({ event: { $case: 'frames' } });
      expect(sse).toContain('{\\"city\\":\\"Rome\\"}');
      expect(sse.startsWith(String((value as { event: { value: { sse: Buffer } } }).event.value.sse))).toBe(
        true,
      );
      await follower.return?.();
      expect(JSON.parse(String(router.events[0]?.endedClaim?.responseJson))).toMatchObject({
        choices: [{ message: { content: '{"city":"Rome"}' } }],
      });
    });
  });

  describe('with an elastic hold', () => {
    const elastic = () => {
      const of = request();
      const hold = { holdId: of.generationId, organizationId: 'org-1', amountNanoUsd: 100n };
      const slices = { outputTokens: 64, sliceTokens: 64, fullAmountNanoUsd: 1_000n };
      return { ...of, elasticHold: { hold: hold as never, ...slices } };
    };

    it('holds its whole output before the call, which cannot be stopped within it', async () => {
      await withRouter(scripted(), async (router) => {
        router.extend = async () => {
          expect(upstream.calls).toHaveLength(0);
          return { $case: 'held', value: {} };
        };
        upstream.play(romanCity);
        expect((await router.collect(elastic())).error).toBeUndefined();
        expect(router.extensions).toMatchObject([{ amountNanoUsd: 1_000n }]);
      });
    });

    it('calls no provider when the balance does not cover it', async () => {
      await withRouter(scripted(), async (router) => {
        const left = { availableNanoUsd: 1n, heldNanoUsd: 0n, estimatedCostNanoUsd: 0n };
        router.extend = async () => ({ $case: 'insufficientCredits', value: left });
        upstream.play(romanCity);
        expect((await router.collect(elastic())).error).toMatchObject({ code: 'insufficient_credits' });
        expect(upstream.calls).toHaveLength(0);
      });
    });
  });
});
