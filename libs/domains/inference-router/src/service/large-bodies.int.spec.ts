import { setImmediate as nextTurn } from 'node:timers/promises';
import { GatewayError } from '@gateway/errors';
import { collectGarbage } from '@gateway/test-support';
import { createUndiciTransport } from '../adapters/undici/undici-transport';
import type { EncodeJob, ProviderTransport } from '../core/ports';
import type { DialectName } from '../core/dialects/registry';
import { generateRequest, model, provider, withRouter } from '../testing/router-under-test';
import { chunk, failure, ScriptedProvider, sse, startStream } from '../testing/scripted-provider';

let upstream: ScriptedProvider;

beforeAll(async () => {
  upstream = await ScriptedProvider.start();
});
afterAll(() => upstream.stop());

it.each<[DialectName, number, boolean]>([
  ['openai', 1_000_000, false],
  ['anthropic', 1_000_000, true],
  ['anthropic', 1_000, false],
  ['gemini', 1_000_000, true],
  ['converse', 1_000_000, true],
])('a body of %s with %d characters is encoded in a thread: %s', async (dialect, length, inThread) => {
  const jobs: EncodeJob[] = [];
  const encodeThreads = {
    encode: (job: EncodeJob) => {
      jobs.push(job);
      return Promise.resolve(Buffer.from('{}'));
    },
    close: () => Promise.resolve(),
  };
  upstream.play(failure(400));
  const models = [model([provider('acme', upstream.url, { dialect })])];
  const messages = [{ role: 'user', content: 'x'.repeat(length) }];
  await withRouter(
    models,
    async (router) => {
      await router.collect(generateRequest({ bodyJson: Buffer.from(JSON.stringify({ messages })) }));
    },
    { encodeThreads },
  );
  expect(jobs.map(({ owner }) => owner)).toEqual(inThread ? ['org-1'] : []);
  expect(upstream.calls.map(({ text }) => text === '{}')).toEqual([inThread]);
});

it('a thread that is lost ends its request, calls no provider, and leaves no slot', async () => {
  const encodeThreads = {
    encode: () => Promise.reject(new GatewayError('internal_error', { internalMessage: 'lost' })),
    close: () => Promise.resolve(),
  };
  upstream.play(failure(400));
  const models = [model([provider('acme', upstream.url, { dialect: 'anthropic', maxConcurrent: 1 })])];
  const bodyOf = (length: number) =>
    Buffer.from(JSON.stringify({ messages: [{ role: 'user', content: 'x'.repeat(length) }] }));
  await withRouter(
    models,
    async (router) => {
      const lost = await router.collect(generateRequest({ bodyJson: bodyOf(1_000_000) }));
      expect(lost.error).toMatchObject({ code: 'internal_error', providerCalled: false });
      expect(upstream.calls).toEqual([]);
      expect(await router.metric('gateway_inference_router_in_flight')).toBe(0);
      const next = await router.collect(generateRequest({ bodyJson: bodyOf(10) }));
      expect(next.error).toMatchObject({ code: 'invalid_request' });
      expect(upstream.calls).toHaveLength(1);
    },
    { encodeThreads },
  );
});

it('the request to the provider is garbage collected while its stream is open', async () => {
  const sent: WeakRef<Uint8Array>[] = [];
  const transport = createUndiciTransport({ openCredential: () => undefined });
  const watched: ProviderTransport = {
    send: (call) => {
      sent.push(new WeakRef(call.body));
      return transport.send(call);
    },
    close: () => transport.close(),
  };
  upstream.play((response) => {
    startStream(response);
    response.write(sse(chunk({ role: 'assistant', content: 'Hello' })));
  });
  const messages = [{ role: 'user', content: 'x'.repeat(300_000) }];
  await withRouter(
    [model([provider('acme', upstream.url)])],
    async (router) => {
      const bodyJson = Buffer.from(JSON.stringify({ messages }));
      const stream = router.generate(generateRequest({ stream: true, bodyJson }));
      expect((await stream.next()).done).toBe(false);
      expect(sent).toHaveLength(1);
      do {
        // V8 retains objects created during marking until the next cycle.
        await nextTurn();
        collectGarbage();
      } while (sent[0]?.deref() !== undefined);
      await stream.return?.();
    },
    { transport: watched },
  );
});
