import { once } from 'node:events';
import { createServer, type AddressInfo } from 'node:net';
import type { GenerateResponse } from '@gateway/contracts/inference-router';
import {
  deferred,
  freeGeneration,
  generateRequest,
  model,
  provider,
  RouterUnderTest,
  withRouter,
} from '../testing/router-under-test';
import { startStream, chunk, ScriptedProvider, sse, helloCompletion } from '../testing/scripted-provider';

let first: ScriptedProvider;

beforeAll(async () => {
  first = await ScriptedProvider.start();
});
afterAll(() => first.stop());

const streamed = (changes = {}) => generateRequest({ stream: true, ...changes });
const one = (changes = {}) => [model([provider('first', first.url, changes)])];

describe('a caller that cancels', () => {
  it('during a stream closes the connection to the provider and owes the output so far', async () => {
    const cut = deferred();
    first.play((response, call) => {
      startStream(response);
      response.write(sse(chunk({ content: 'Hello' }), chunk({ content: ' world' })));
      void call.cut.then(cut.resolve);
    });
    await withRouter(one(), async (router) => {
      const client = new AbortController();
      const messages = router.generate(streamed(), { signal: client.signal });
      expect((await messages.next()).value).toMatchObject({ event: { $case: 'frames' } });
      const recorded = deferred();
      router.beforeAppend = () => Promise.resolve(recorded.resolve());
      // No further message is read: finalization must not wait for that.
      client.abort();
      await cut.promise;
      await recorded.promise;
      await messages.return?.();
      expect(router.events).toMatchObject([
        { cancelled: true, finishReason: '', usage: { promptTokens: 9, completionTokens: 2 } },
      ]);
    });
  });

  it('by returning from the iterator has the same result', async () => {
    const cut = deferred();
    first.play((response, call) => {
      startStream(response);
      response.write(sse(chunk({ content: 'Hello' })));
      void call.cut.then(cut.resolve);
    });
    await withRouter(one(), async (router) => {
      const messages = router.generate(streamed());
      await messages.next();
      await messages.return?.();
      await cut.promise;
      expect(router.events).toMatchObject([{ cancelled: true, usage: { completionTokens: 1 } }]);
    });
  });

  async function cancelWhenSeen(isStream: boolean, deadlineUnixMs?: number) {
    const seen = deferred();
    const cut = deferred();
    first.play((_response, call) => {
      seen.resolve();
      void call.cut.then(cut.resolve);
    });
    let events: object[] = [];
    await withRouter(one(), async (router) => {
      const client = new AbortController();
      const running = router.collect(generateRequest({ stream: isStream }), {
        signal: client.signal,
        ...(deadlineUnixMs === undefined ? {} : { deadlineUnixMs }),
      });
      await seen.promise;
      client.abort();
      await cut.promise;
      await running;
      events = router.events;
      expect(await router.metric('gateway_inference_router_calls_total', { outcome: 'cancelled' })).toBe(1);
    });
    return events;
  }

  it.each([
    ['the first event of a stream', true],
    ['a non-streaming response', false],
  ])('before %s owes the prompt, which was sent', async (_what, isStream) => {
    expect(await cancelWhenSeen(isStream)).toMatchObject([
      { cancelled: true, usage: { promptTokens: 9, completionTokens: 0 } },
    ]);
  });

  it('before the request was sent owes nothing', async () => {
    const seen = deferred();
    // Accepts connections but never completes a TLS handshake.
    const silent = createServer((socket) => {
      socket.unref();
      seen.resolve();
    }).listen(0, '127.0.0.1');
    silent.unref();
    await once(silent, 'listening');
    const { port } = silent.address() as AddressInfo;
    await withRouter([model([provider('first', `https://127.0.0.1:${port}/v1`)])], async (router) => {
      const client = new AbortController();
      const running = router.collect(generateRequest(), { signal: client.signal });
      await seen.promise;
      client.abort();
      await running;
      expect(router.events).toEqual([freeGeneration({ cancelled: true })]);
      expect(router.events.at(-1)?.attempts.map((attempt) => [attempt.provider, attempt.outcome])).toEqual([
        ['first', 'cancelled'],
      ]);
    });
    silent.close();
  });

  it.each([true, false])(
    'because of a deadline before the response owes nothing (stream: %s)',
    async (isStream) => {
      expect(await cancelWhenSeen(isStream, 1)).toEqual([
        freeGeneration({ cancelled: false, errorCode: 'request_timeout' }),
      ]);
    },
  );

  it.each([true, false])(
    'because the router stops before the response owes nothing (stream: %s)',
    async (isStream) => {
      const seen = deferred();
      first.play(() => seen.resolve());
      const router = await RouterUnderTest.start(one(), { drainMs: 1 });
      const running = router.collect(generateRequest({ stream: isStream }));
      await seen.promise;
      await router.stop();
      expect((await running).error).toMatchObject({ code: 'no_capacity' });
      expect(router.events).toEqual([freeGeneration({ cancelled: false, errorCode: 'no_capacity' })]);
    },
  );

  it('before the start never calls a provider', async () => {
    first.play(helloCompletion);
    await withRouter(one(), async (router) => {
      const { error } = await router.collect(generateRequest(), { signal: AbortSignal.abort() });
      expect(error).toMatchObject({ generationRecorded: false });
      expect(first.calls).toHaveLength(0);
      expect(router.events).toEqual([]);
    });
  });
});

describe('back-pressure', () => {
  it('reaches the provider when the caller does not read', async () => {
    const line = sse(chunk({ content: 'x'.repeat(8_000) }));
    let blocked: () => void = () => undefined;
    const isBlocked = new Promise<void>((resolve) => (blocked = resolve));
    first.play((response) => {
      startStream(response);
      const pump = (): void => {
        if (response.destroyed) return;
        if (response.write(line)) setImmediate(pump);
        else {
          // The socket counts as blocked when it does not drain in time.
          const timer = setTimeout(blocked, 300);
          response.once('drain', () => (clearTimeout(timer), pump()));
        }
      };
      pump();
    });
    await withRouter(one(), async (router) => {
      const messages = router.generate(streamed());
      expect(((await messages.next()).value as GenerateResponse).event?.$case).toBe('frames');
      await isBlocked;
      await messages.return?.();
    });
  });
});
