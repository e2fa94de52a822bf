import type { WatchCatalogueResponse } from '@gateway/contracts/inference-router';
import { nodeTimers } from '../adapters/node/timers';
import {
  catalogueOf,
  deferred,
  FixedCatalogue,
  generateRequest,
  model,
  PRICES,
  provider,
  RouterUnderTest,
} from '../testing/router-under-test';
import { startStream, chunk, DONE, ScriptedProvider, sse } from '../testing/scripted-provider';

let upstream: ScriptedProvider;

beforeAll(async () => {
  upstream = await ScriptedProvider.start();
});
afterAll(() => upstream.stop());

describe('watching the catalogue', () => {
  it('sends it immediately, including disabled models, and again after each change until the stop', async () => {
    const source = new FixedCatalogue(
      catalogueOf([model([provider('p', upstream.url)]), model([], { id: 'acme/off', disabled: true })], 7),
    );
    const router = await RouterUnderTest.start([], { catalogue: source });
    const watch = router.handlers
      .watchCatalogue({}, { signal: new AbortController().signal, metadata: {} })
      [Symbol.asyncIterator]();
    const first = (await watch.next()).value as WatchCatalogueResponse;
    expect(first.version).toBe(7n);
    expect(first.models).toMatchObject([
      {
        id: 'acme/m-1',
        contextLength: 8_192,
        capabilities: ['tools'],
        prices: PRICES,
        tokenCounting: { encoding: 'o200k_base', imageFormula: 'constant' },
      },
      { id: 'acme/off', disabled: true },
    ]);
    const next = watch.next();
    source.change(catalogueOf([model([], { id: 'acme/new' })], 8));
    expect(((await next).value as WatchCatalogueResponse).models).toMatchObject([{ id: 'acme/new' }]);
    const last = watch.next();
    await router.stop();
    expect(await last).toEqual({ done: true, value: undefined });
  });
});

describe('a stop', () => {
  it('waits for a running generation and starts no other', async () => {
    const seen = deferred();
    const mayFinish = deferred();
    upstream.play(async (response) => {
      startStream(response);
      response.write(sse(chunk({ content: 'Hello' })));
      seen.resolve();
      await mayFinish.promise;
      response.end(sse(chunk({}, 'stop')) + DONE);
    });
    const router = await RouterUnderTest.start([model([provider('p', upstream.url)])]);
    const running = router.collect(generateRequest({ stream: true }));
    await seen.promise;
    const stopped = router.stop();
    expect((await router.collect(generateRequest())).error).toMatchObject({ code: 'no_capacity' });
    mayFinish.resolve();
    expect((await running).finished?.finishReason).toBe('stop');
    await stopped;
    expect(router.events).toHaveLength(1);
    expect(await router.metric('gateway_inference_router_in_flight')).toBe(0);
  });

  it('cancels generations that do not end in time, and records them as internal errors', async () => {
    const seen = deferred();
    upstream.play((response) => {
      startStream(response);
      response.write(sse(chunk({ content: 'Hello' })));
      seen.resolve();
    });
    const router = await RouterUnderTest.start([model([provider('p', upstream.url)])], { drainMs: 1 });
    const running = router.collect(generateRequest({ stream: true }));
    await seen.promise;
    await router.stop();
    expect((await running).error).toMatchObject({ name: 'GatewayError' });
    expect(router.events.length).toBeLessThanOrEqual(1);
    for (const event of router.events) {
      expect(event).toMatchObject({ finishReason: 'error', cancelled: false });
      // Before its first event, the request is safe to repeat.
      expect(['internal_error', 'no_capacity']).toContain(event.errorCode);
    }
  });

  it('is idempotent', async () => {
    const router = await RouterUnderTest.start([], { timers: nodeTimers });
    await Promise.all([router.module.stop(), router.module.stop()]);
    await router.stop();
  });
});
