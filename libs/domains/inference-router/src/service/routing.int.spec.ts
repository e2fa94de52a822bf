import type { UnixMs } from '@gateway/base';
import { TargetRules } from '@gateway/contracts/common';
import { failure, helloCompletion, ScriptedProvider } from '../testing/scripted-provider';
import { generateRequest, model, provider, RouterUnderTest } from '../testing/router-under-test';

let fast: ScriptedProvider;
let slow: ScriptedProvider;
let router: RouterUnderTest;
let share = 0;
let now = 1_764_000_000_000;

beforeAll(async () => {
  [fast, slow] = await Promise.all([ScriptedProvider.start(), ScriptedProvider.start()]);
  const providers = [
    provider('slow', slow.url, { maxAttempts: 2 }),
    provider('fast', fast.url, { maxAttempts: 2 }),
  ];
  const routed = (routing: 'weight' | 'latency') => model(providers, { id: `acme/${routing}`, routing });
  router = await RouterUnderTest.start([routed('weight'), routed('latency')], {
    random: () => share,
    clock: { now: () => now as UnixMs },
  });
});

afterAll(async () => {
  await router.stop();
  await Promise.all([fast.stop(), slow.stop()]);
});

beforeEach(() => {
  router.events.length = 0;
  fast.play(helloCompletion);
  slow.play(helloCompletion);
});

const attempts = () =>
  router.events.map((event) => event.attempts.map((attempt) => [attempt.provider, attempt.reason]));

it('records why each target was called: by the routing, as a retry and as a failover', async () => {
  slow.play(failure(401));
  share = 0;
  await router.collect(generateRequest({ modelId: 'acme/weight' }));
  expect(attempts()).toEqual([
    [
      ['slow', 'weight'],
      ['fast', 'failover'],
    ],
  ]);
  fast.play(failure(503), helloCompletion);
  router.events.length = 0;
  await router.collect(generateRequest({ modelId: 'acme/weight' }));
  expect(attempts()).toEqual([
    [
      ['slow', 'weight'],
      ['fast', 'failover'],
      ['fast', 'retry'],
    ],
  ]);
});

it('sends the requests of a cache key to one target, and those of a signer to it', async () => {
  for (share of [0, 0.3, 0.6, 0.9]) {
    await router.collect(generateRequest({ modelId: 'acme/weight', promptCacheKey: 'conversation' }));
  }
  const [[first]] = attempts() as [[[string, string]]];
  expect(attempts()).toEqual(Array(4).fill([[first[0], 'prompt_cache_key']]));
  router.events.length = 0;
  await router.collect(
    generateRequest({ modelId: 'acme/weight', promptCacheKey: 'conversation', signedBy: 'signer-fast' }),
  );
  expect(attempts()).toEqual([[['fast', 'signature']]]);
});

it('measures targets without recent calls, then prefers the fastest', async () => {
  now += 300_000;
  slow.play((response, call) => {
    now += 2_000;
    return helloCompletion(response, call);
  });
  for (let request = 0; request < 5; request += 1) {
    await router.collect(generateRequest({ modelId: 'acme/latency' }));
  }
  const [first, second, ...later] = attempts();
  expect([first, second]).toEqual([[['slow', 'latency']], [['fast', 'latency']]]);
  expect(later).toEqual(Array(3).fill([['fast', 'latency']]));

  // After five minutes without calls, the slow one is measured again.
  now += 300_000;
  router.events.length = 0;
  await router.collect(generateRequest({ modelId: 'acme/latency' }));
  await router.collect(generateRequest({ modelId: 'acme/latency' }));
  expect(attempts()).toEqual([[['slow', 'latency']], [['fast', 'latency']]]);
});

it('prefers a slow target to one that only fails', async () => {
  now += 300_000;
  fast.play(failure(503));
  slow.play((response, call) => {
    now += 2_000;
    return helloCompletion(response, call);
  });
  await router.collect(generateRequest({ modelId: 'acme/latency' }));
  await router.collect(generateRequest({ modelId: 'acme/latency' }));
  router.events.length = 0;
  await router.collect(generateRequest({ modelId: 'acme/latency' }));
  expect(attempts()).toEqual([[['slow', 'latency']]]);
});

describe('with rules of the organization', () => {
  const deny = (...deniedProviders: string[]) => TargetRules.fromPartial({ deniedProviders });
  const run = (changes: Parameters<typeof generateRequest>[0]) =>
    router.collect(generateRequest({ modelId: 'acme/weight', ...changes }));

  it('never calls another target: neither first, nor after a failure', async () => {
    const callsBefore = slow.calls.length;
    fast.play(failure(503));
    await run({ targetRules: deny('slow') });
    await run({ targetRules: deny('slow'), promptCacheKey: 'conversation', signedBy: 'signer-slow' });
    expect(
      attempts()
        .flat()
        .map(([name]) => name),
    ).toEqual(['fast', 'fast', 'fast', 'fast']);
    expect(slow.calls.length).toBe(callsBefore);
  });

  it('refuses a request without an allowed target, and calls no provider', async () => {
    const callsBefore = slow.calls.length + fast.calls.length;
    const { error } = await run({ targetRules: deny('slow', 'fast') });
    expect(error).toMatchObject({ code: 'model_not_allowed' });
    expect(slow.calls.length + fast.calls.length).toBe(callsBefore);
    expect(router.events).toEqual([]);
  });
});
