import { tmpdir } from 'node:os';
import type { GatewayError } from '@gateway/errors';
import { UsageSource } from '@gateway/contracts/common';
import { createFileSpool } from '../adapters/file-system/file-spool';
import {
  deferred,
  freeGeneration,
  generateRequest,
  model,
  provider,
  type RouterUnderTest,
  withRouter,
} from '../testing/router-under-test';
import {
  startStream,
  chunk,
  completion,
  DONE,
  failure,
  helloCompletion,
  helloStream,
  json,
  ScriptedProvider,
  sse,
  stream,
  usageChunk,
  type Script,
  type SeenCall,
} from '../testing/scripted-provider';

let first: ScriptedProvider;
let second: ScriptedProvider;

beforeAll(async () => {
  first = await ScriptedProvider.start();
  second = await ScriptedProvider.start();
});

afterAll(async () => {
  await first.stop();
  await second.stop();
});

const quick = { connectMs: 1_000, firstEventMs: 60, firstByteMs: 60, idleMs: 60, totalMs: 5_000 };
const streamed = (changes = {}) => generateRequest({ stream: true, ...changes });

/** The attempts of the last generation: provider and outcome. */
const attemptsOf = (router: RouterUnderTest) =>
  router.events.at(-1)?.attempts.map((attempt) => [attempt.provider, attempt.outcome]);

const one = (changes = {}) => [model([provider('first', first.url, changes)])];
const two = (changes = {}) => [
  model([provider('first', first.url, changes), provider('second', second.url, changes)]),
];

const cutImmediately: Script = (response) => void response.destroy();
const silent: Script = () => undefined;
/** A response, streaming or not, whose first choice has this finish_reason. */
const finished =
  (reason: string): Script =>
  (response, call) =>
    (call.body['stream']
      ? stream(chunk({ content: 'Hel' }, reason))
      : json(completion({ content: 'Hel' }, {}, reason)))(response, call);
/** A response, streaming or not, with these fields in its choice. */
const inChoice =
  ({ content = 'Hello', ...more }: { content?: unknown; error?: object }): Script =>
  (response, call) => {
    const text = { role: 'assistant', content };
    const choice = { index: 0, finish_reason: null, ...more };
    if (call.body['stream']) stream({ choices: [{ ...choice, delta: text }] })(response, call);
    else json({ choices: [{ ...choice, message: text }] })(response, call);
  };

describe('a provider error', () => {
  const rows: [string, Script, string, number][] = [
    ['400', failure(400, { message: 'bad message', param: 'messages' }), 'invalid_request', 1],
    ['413', failure(413), 'invalid_request', 1],
    ['422', failure(422), 'invalid_request', 1],
    [
      '400 about the length',
      failure(400, { code: 'context_length_exceeded', message: 'x' }),
      'context_length_exceeded',
      1,
    ],
    ['400 about the model', failure(400, { code: 'model_not_found' }), 'upstream_config_error', 1],
    ['401', failure(401), 'upstream_config_error', 1],
    ['402', failure(402), 'upstream_config_error', 1],
    ['403', failure(403), 'upstream_config_error', 1],
    ['404', failure(404), 'upstream_config_error', 1],
    ['a redirect', json({}, 307, { location: 'http://127.0.0.1:1/' }), 'upstream_config_error', 1],
    ['408', failure(408), 'request_timeout', 2],
    ['409', failure(409), 'upstream_error', 2],
    ['429', failure(429), 'no_capacity', 2],
    ['429 for an hour', json({ error: {} }, 429, { 'retry-after': '3600' }), 'no_capacity', 1],
    ['500', failure(500), 'upstream_error', 2],
    ['502 with a page', (response) => void response.writeHead(502).end('<html>'), 'upstream_error', 2],
    ['503', failure(503), 'no_capacity', 2],
    ['529', failure(529), 'no_capacity', 2],
    ['a cut before the first byte', cutImmediately, 'upstream_error', 2],
    ['no response', silent, 'request_timeout', 2],
    ['a response with the finish_reason "error"', finished('error'), 'upstream_error', 2],
    ['a response with the finish_reason "network_error"', finished('network_error'), 'upstream_error', 2],
    ['a response with the finish_reason "abort"', finished('abort'), 'upstream_error', 2],
    [
      'a response with the finish_reason "insufficient_system_resource"',
      finished('insufficient_system_resource'),
      'upstream_error',
      2,
    ],
    ['an error inside a choice', inChoice({ error: { message: 'boom', code: 502 } }), 'upstream_error', 2],
    ['content that is not text', inChoice({ content: { text: 'Hello' } }), 'upstream_error', 2],
    ['text that is not JSON', (response) => void response.writeHead(200).end('{'), 'upstream_error', 2],
    ['a response without choices', json({ choices: [] }), 'upstream_error', 2],
    [
      'an error inside a 200',
      (response, { body }) =>
        (body['stream'] ? stream : json)({ error: { message: 'busy', type: 'overloaded_error' } })(
          response,
          {} as SeenCall,
        ),
      'no_capacity',
      2,
    ],
  ];

  for (const [what, script, code, calls] of rows) {
    for (const isStream of [false, true]) {
      it(`${what} gives ${code} after ${calls} call(s), ${isStream ? 'streaming' : 'non-streaming'}; it is recorded, nothing is owed, and the error reports both`, async () => {
        first.play(script);
        const limits = script === silent ? { timeouts: quick } : {};
        await withRouter(one(limits), async (router) => {
          const { error, finished } = await router.collect(generateRequest({ stream: isStream }));
          const reported = { providerCalled: true, generationRecorded: true };
          expect(error).toMatchObject({ name: 'GatewayError', code, ...reported });
          expect(finished).toBeUndefined();
          expect(first.calls).toHaveLength(calls);
          expect(router.events).toEqual([
            freeGeneration({ errorCode: code, finishReason: 'error', provider: 'first' }),
          ]);
          expect(attemptsOf(router)).toHaveLength(calls);
          expect((error as GatewayError).message).not.toMatch(/rate[\s_-]*limit|first|127\.0\.0\.1|secret/i);
        });
      });
    }
  }

  it('about an invalid request is not retried at another target', async () => {
    first.play(failure(400, { message: 'bad' }));
    second.play(helloCompletion);
    await withRouter(two(), async (router) => {
      const { error } = await router.collect(generateRequest());
      expect(error).toMatchObject({ code: 'invalid_request' });
      expect(second.calls).toHaveLength(0);
    });
  });

  it('is passed on without keys, addresses or account ids', async () => {
    const message =
      'Rate limit: upstream-model at http://10.0.0.1/x rejects key sk-provider-secret-1234567890 of org-AbCdEf123456';
    first.play(failure(400, { message, param: 'max_completion_tokens' }));
    await withRouter(one(), async (router) => {
      const { error } = await router.collect(generateRequest());
      expect(error).toMatchObject({
        message: 'usage limit: acme/m-1 at [removed] rejects key [removed] of [removed]',
        param: 'max_tokens',
      });
    });
  });

  it('about the context length has the same text as the check before dispatch', async () => {
    first.play(
      failure(400, {
        message: "This model's maximum context length is 4096 tokens. However, you requested 9000 tokens.",
      }),
    );
    await withRouter(one(), async (router) => {
      const { error } = await router.collect(generateRequest());
      expect(error).toMatchObject({
        message:
          "This model's maximum context length is 8192 tokens. However, you requested 9000 tokens (8900 in the messages, 100 in the completion).",
        metadata: { estimated_tokens: 9000, limit: 8192 },
      });
    });
  });
});

describe('before the first event', () => {
  it('a failure without a call to any provider is recorded', async () => {
    await withRouter(one({ maxConcurrent: 0 }), async (router) => {
      const { error } = await router.collect(generateRequest({ generationId: 'gen-none' }));
      expect(error).toMatchObject({ code: 'no_capacity', providerCalled: false, generationRecorded: true });
      expect(router.events).toEqual([freeGeneration({ generationId: 'gen-none', errorCode: 'no_capacity' })]);
      expect(attemptsOf(router)).toEqual([['first', 'bulkhead_full']]);
    });
  });

  it('a failure that no store accepts keeps its error, which reports that there is no record', async () => {
    first.play(failure(500));
    const spool = {
      ...createFileSpool({ directory: tmpdir() }),
      put: () => Promise.reject(new Error('full')),
    };
    await withRouter(
      one(),
      async (router) => {
        router.eventLogDown = true;
        router.ledgerDown = true;
        const { error } = await router.collect(generateRequest());
        expect(error).toMatchObject({ code: 'upstream_error', generationRecorded: false });
      },
      { spool },
    );
  });

  it('a failed call is retried without notice by the caller', async () => {
    first.play(failure(500), helloStream);
    await withRouter(one(), async (router) => {
      const { error, finished } = await router.collect(streamed());
      expect(error).toBeUndefined();
      expect(finished?.finishReason).toBe('stop');
      expect(await router.metric('gateway_inference_router_retries_total')).toBe(1);
      expect(attemptsOf(router)).toEqual([
        ['first', 'failed'],
        ['first', 'ok'],
      ]);
    });
  });

  for (const [what, script] of [
    ['a target that closes connections', cutImmediately],
    ['a target that does not respond', silent],
    ['a target that throttles', failure(429)],
    ['a target with a wrong key', failure(401)],
    ['an empty stream', stream()],
    ['a stream that starts with an error', stream({ error: { message: 'boom', code: 500 } })],
    [
      'a stream that starts with invalid data',
      (response) => void (startStream(response), response.end('data: x\n\n')),
    ],
  ] as [string, Script][]) {
    it(`fails over from ${what} to the next target`, async () => {
      first.play(script);
      second.play(helloStream);
      const models = [
        model([
          provider('first', first.url, script === silent ? { timeouts: quick } : {}),
          provider('second', second.url),
        ]),
      ];
      await withRouter(models, async (router) => {
        const { error } = await router.collect(streamed());
        expect(error).toBeUndefined();
        expect(router.events).toMatchObject([{ provider: 'second', finishReason: 'stop' }]);
        expect(await router.metric('gateway_inference_router_failovers_total', { provider: 'second' })).toBe(
          1,
        );
      });
    });
  }

  it('fails over from a provider without a free slot, or fails with no_capacity', async () => {
    const seen = deferred();
    first.play(() => seen.resolve());
    second.play(helloCompletion);
    const narrow = provider('first', first.url, { maxConcurrent: 1 });
    const models = [model([narrow]), model([narrow, provider('second', second.url)], { id: 'acme/both' })];
    await withRouter(models, async (router) => {
      const client = new AbortController();
      const running = router.collect(streamed(), { signal: client.signal });
      await seen.promise;
      const refused = await router.collect(generateRequest());
      expect(refused.error).toMatchObject({
        code: 'no_capacity',
        retryAfterMs: 10_000,
        providerCalled: false,
      });
      const moved = await router.collect(generateRequest({ modelId: 'acme/both' }));
      expect(moved.error).toBeUndefined();
      expect(attemptsOf(router)).toEqual([
        ['first', 'bulkhead_full'],
        ['second', 'ok'],
      ]);
      client.abort();
      await running;
      first.play(helloCompletion);
      expect((await router.collect(generateRequest())).error).toBeUndefined();
    });
  });

  it('a target that keeps failing is not called for a while, and then gets one trial call', async () => {
    first.play(failure(500));
    const breaker = { volumeThreshold: 2, rollingCountTimeout: 60_000, resetTimeout: 50 };
    await withRouter(
      one({ maxAttempts: 1 }),
      async (router) => {
        for (let call = 0; call < 2; call += 1) await router.collect(generateRequest());
        const { error } = await router.collect(generateRequest());
        expect(error).toMatchObject({ code: 'no_capacity', providerCalled: false });
        expect(first.calls).toHaveLength(2);
        first.play(helloCompletion);
        let succeeded = false;
        for (let tries = 0; !succeeded && tries < 500; tries += 1) {
          succeeded = (await router.collect(generateRequest())).error === undefined;
          if (!succeeded) await new Promise((resolve) => setTimeout(resolve, 10));
        }
        expect(succeeded).toBe(true);
        expect(first.calls).toHaveLength(1);
      },
      { breaker },
    );
  });

  it('an organization that provokes failures opens the circuit only for itself', async () => {
    const provoked: Script = (response, call) =>
      (call.body['seed'] === 666 ? failure(500) : helloCompletion)(response, call);
    first.play(provoked);
    const from = (organizationId: string, provokes: boolean) =>
      generateRequest({ organizationId, bodyJson: Buffer.from(provokes ? '{"seed":666}' : '{}') });
    await withRouter(
      one({ maxAttempts: 1 }),
      async (router) => {
        for (let call = 0; call < 50; call += 1) {
          await router.collect(from('org-provoking', true));
          if (call % 5 === 0) expect((await router.collect(from('org-other', false))).error).toBeUndefined();
        }
        expect((await router.collect(from('org-third', false))).error).toBeUndefined();
        expect((await router.collect(from('org-provoking', false))).error).toMatchObject({
          code: 'no_capacity',
        });
      },
      { breaker: { volumeThreshold: 4, rollingCountTimeout: 60_000, resetTimeout: 3_600_000 } },
    );
  });

  it('a target that fails for several organizations is closed to all', async () => {
    first.play(failure(500));
    await withRouter(
      one({ maxAttempts: 1 }),
      async (router) => {
        for (let call = 0; call < 6; call += 1) {
          for (const organizationId of ['org-1', 'org-2', 'org-3'])
            await router.collect(generateRequest({ organizationId }));
        }
        const { length } = first.calls;
        const { error } = await router.collect(generateRequest({ organizationId: 'org-4' }));
        expect(error).toMatchObject({ code: 'no_capacity' });
        expect(first.calls).toHaveLength(length);
      },
      { breaker: { volumeThreshold: 4, rollingCountTimeout: 60_000, resetTimeout: 3_600_000 } },
    );
  });

  it('a request that timed out is retried at the next target, but not at a third', async () => {
    const third = await ScriptedProvider.start();
    first.play(silent);
    second.play(silent);
    third.play(helloCompletion);
    const of = (name: string, { url }: ScriptedProvider) => provider(name, url, { timeouts: quick });
    const models = [model([of('first', first), of('second', second), of('third', third)])];
    await withRouter(models, async (router) => {
      const { error } = await router.collect(generateRequest());
      expect(error).toMatchObject({ code: 'request_timeout' });
      expect([first, second, third].map(({ calls }) => calls.length)).toEqual([1, 1, 0]);
    });
    await third.stop();
  });

  it('a timeout is not retried at a target with retry_timeouts off', async () => {
    first.play(silent);
    second.play(helloCompletion);
    const [both] = two({ timeouts: quick });
    const targets = both?.targets.map((target) => ({ ...target, retryTimeouts: false })) ?? [];
    await withRouter([model([], { targets })], async (router) => {
      const { error } = await router.collect(generateRequest());
      expect(error).toMatchObject({ code: 'request_timeout' });
      expect([first, second].map(({ calls }) => calls.length)).toEqual([1, 0]);
    });
  });

  it('an invalid request does not open a circuit', async () => {
    first.play(failure(400));
    await withRouter(
      one(),
      async (router) => {
        for (let call = 0; call < 4; call += 1) {
          expect((await router.collect(generateRequest())).error).toMatchObject({ code: 'invalid_request' });
        }
      },
      { breaker: { volumeThreshold: 1 } },
    );
  });
});

describe('after the first event', () => {
  const startedStream: Script = (response) => {
    startStream(response);
    response.write(sse(chunk({ role: 'assistant', content: 'Hello' }), chunk({ content: ' world' })));
  };
  const rows: [string, Script, string][] = [
    [
      'a cut',
      (response, call) => (
        void startedStream(response, call),
        void setTimeout(() => response.destroy(), 100)
      ),
      'upstream_error',
    ],
    ['a stall', startedStream, 'request_timeout'],
    [
      'an unreadable chunk',
      (response) => (
        startStream(response),
        void response.end(`${sse(chunk({ content: 'Hello world' }))}data: {"a\n\n`)
      ),
      'upstream_error',
    ],
    [
      'an error of the provider',
      (response) => (
        startStream(response),
        void response.end(
          sse(chunk({ content: 'Hello world' }), { error: { message: 'rate limit', code: 429 } }),
        )
      ),
      'upstream_error',
    ],
    [
      'a finish_reason that reports a failure',
      (response) => (
        startStream(response),
        void response.end(`${sse(chunk({ content: 'Hello world' }), chunk({}, 'network_error'))}${DONE}`)
      ),
      'upstream_error',
    ],
    [
      'an error in a choice',
      (response) => (
        startStream(response),
        void response.end(
          sse(chunk({ content: 'Hello world' }), {
            choices: [{ index: 0, delta: { content: '' }, error: { message: 'x' }, finish_reason: 'stop' }],
          }),
        )
      ),
      'upstream_error',
    ],
    [
      'content that is not text',
      (response) => (
        startStream(response),
        void response.end(sse(chunk({ content: 'Hello world' }), chunk({ content: 7 })))
      ),
      'upstream_error',
    ],
    [
      'an end without a finish_reason',
      (response) => (startStream(response), void response.end(sse(chunk({ content: 'Hello world' })))),
      'upstream_error',
    ],
  ];

  for (const [what, script, code] of rows) {
    it(`${what} is ${code}, reported after the generation is recorded, and never retried`, async () => {
      first.play(script);
      second.play(helloStream);
      const timeouts = { ...quick, firstEventMs: 5_000, idleMs: script === startedStream ? 60 : 5_000 };
      await withRouter(two({ timeouts }), async (router) => {
        const { error, sse: text, finished } = await router.collect(streamed({ idempotencyScope: 's' }));
        expect(error).toMatchObject({ name: 'GatewayError', code });
        expect((error as GatewayError).message).not.toMatch(/rate limit/i);
        expect(text).toContain('Hello');
        expect(finished).toBeUndefined();
        expect(second.calls).toHaveLength(0);
        expect(router.events).toMatchObject([
          {
            finishReason: 'error',
            errorCode: code,
            cancelled: false,
            usage: { promptTokens: 9, completionTokens: 2 },
            usageSource: UsageSource.USAGE_SOURCE_COUNTED,
            endedClaim: { scope: 's' },
          },
        ]);
        expect(router.events[0]?.endedClaim?.responseJson).toBeUndefined();
      });
    });
  }

  it('a cut after the finish_reason loses only the usage block', async () => {
    first.play((response) => {
      startStream(response);
      response.write(sse(chunk({ content: 'Hello' }), chunk({}, 'stop')));
      setTimeout(() => response.destroy(), 100);
    });
    await withRouter(one(), async (router) => {
      const { error, finished } = await router.collect(streamed());
      expect(error).toBeUndefined();
      expect(finished).toMatchObject({ finishReason: 'stop', usage: { completionTokens: 1 } });
    });
  });
});

describe('an implausible usage block is replaced by a count', () => {
  const LONG_OUTPUT = ' word'.repeat(100);
  /** A quarter of the bytes that were sent. */
  const BY_SIZE = 36;
  const rows: [string, object, text?: string, promptTokens?: number][] = [
    ['zero although text was produced', usageChunk(0, 0)],
    ['no completion tokens although text was produced', usageChunk(10, 0)],
    ['negative', usageChunk(10, -1)],
    ['fractions', usageChunk(10, 1.5)],
    ['more than the output limit', usageChunk(10, 100_000)],
    ['a small share of the output', usageChunk(10, 1), LONG_OUTPUT],
    ['a prompt above the context window', usageChunk(100_000, 2), 'Hello world', BY_SIZE],
    ['a prompt far longer than the estimate', usageChunk(8_000, 2), 'Hello world', BY_SIZE],
  ];
  for (const [what, usage, text = 'Hello world', promptTokens = 9] of rows) {
    it(what, async () => {
      first.play(stream(chunk({ content: text }), chunk({}, 'stop'), usage));
      await withRouter(one(), async (router) => {
        const { finished } = await router.collect(streamed());
        const completionTokens = text === LONG_OUTPUT ? 100 : 2;
        expect(finished?.usage).toMatchObject({ promptTokens, completionTokens });
        expect(finished?.exceedsEstimate).toBe(promptTokens === BY_SIZE);
        expect(router.events[0]?.usageSource).toBe(UsageSource.USAGE_SOURCE_COUNTED);
      });
    });
  }
});

it.each<[string, object[]]>([
  ['cut', []],
  ['finished', [chunk({}, 'stop')]],
])('a report before the last output of a stream that is %s counts for the input only', async (_how, end) => {
  first.play((response) => {
    startStream(response);
    const early = { ...chunk({ content: '' }), usage: { prompt_tokens: 10, completion_tokens: 400 } };
    response.write(sse(early, ...Array.from({ length: 500 }, () => chunk({ content: ' word' })), ...end));
    setTimeout(() => response.destroy(), 100);
  });
  await withRouter(one(), async (router) => {
    await router.collect(streamed({ maxOutputTokens: 1_000 }));
    expect(router.events).toMatchObject([{ usage: { completionTokens: 500 } }]);
  });
});

it('the excess of an implausible report is counted by provider and not charged', async () => {
  first.play(stream(chunk({ content: 'Hello world' }), chunk({}, 'stop'), usageChunk(8_036, 2)));
  await withRouter(one(), async (router) => {
    const { finished } = await router.collect(streamed());
    // A quarter of the bytes that were sent.
    expect(finished?.costNanoUsd).toBe(36n * 1_000n + 2n * 2_000n);
    const excess = (name: string, labels = {}) =>
      router.metric(`gateway_inference_router_usage_${name}_total`, { provider: 'first', ...labels });
    expect(await excess('counted', { reason: 'rejected' })).toBe(1);
    expect(await excess('excess_tokens', { kind: 'prompt' })).toBe(8_000);
    expect(await excess('excess_tokens', { kind: 'completion' })).toBe(0);
    expect(await excess('excess_usd')).toBe(0.008);
  });
});

describe('image tokens', () => {
  const withImages = usageChunk(100, 2, { prompt_tokens_details: { image_tokens: 90 } });
  for (const [what, images, imageTokens] of [
    ['of a request without an image count as prompt tokens', 0, 0],
    ['of a request with an image are those of the provider', 1, 90],
  ] as const) {
    it(what, async () => {
      first.play(stream(chunk({ content: 'Hello world' }), chunk({}, 'stop'), withImages));
      await withRouter(one(), async (router) => {
        const inputParts = { images, estimatedImageTokens: images * 50, hasDefinitions: false };
        await router.collect(streamed({ inputParts, estimatedInputTokens: 9 + images * 50 }));
        expect(router.events[0]).toMatchObject({
          usage: { promptTokens: 100, imageTokens },
          usageSource: UsageSource.USAGE_SOURCE_PROVIDER,
        });
      });
    });
  }
});

it('a request of an older edge, without input_parts, is allowed images and definitions', async () => {
  first.play(stream(chunk({ content: 'Hello world' }), chunk({}, 'stop'), usageChunk(2_000, 2)));
  await withRouter(one(), async (router) => {
    await router.collect(streamed({ inputParts: undefined }));
    expect(router.events[0]?.usageSource).toBe(UsageSource.USAGE_SOURCE_PROVIDER);
  });
});
