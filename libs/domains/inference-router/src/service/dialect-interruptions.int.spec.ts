import { startModelEmulator, type ModelEmulator } from '@gateway/model-emulator';
import { UsageSource } from '@gateway/contracts/common';
import { dialectNames, type DialectName } from '../core/dialects/registry';
import { emulatedModel } from '../testing/emulated-targets';
import { generateRequest, RouterUnderTest } from '../testing/router-under-test';

/** Generations that their client cancels, or that their provider cuts: the provider stops, and the input is charged. */
let emulator: ModelEmulator;
let router: RouterUnderTest;

/** Differs from the emulator's counts. */
const ESTIMATE = 3_210;

beforeAll(async () => {
  emulator = await startModelEmulator();
  router = await RouterUnderTest.start(
    dialectNames.map((dialect) =>
      emulatedModel(emulator, dialect, { provider: { maxConcurrent: 1 }, model: { id: dialect } }),
    ),
  );
});
afterAll(async () => {
  await router.stop();
  await emulator.close();
});
beforeEach(() => {
  emulator.reset();
  router.events.length = 0;
});

/** Longer than the shortest prompt that the emulator caches. */
const LONG = 'All of this text is cached by the provider. '.repeat(200);

function request(dialect: DialectName, stream: boolean, directives: string) {
  const cached = { type: 'text', text: LONG, cache_control: { type: 'ephemeral' } };
  const messages = [
    { role: 'user', content: [cached] },
    { role: 'assistant', content: 'Hello' },
    { role: 'user', content: directives },
  ];
  return generateRequest({
    modelId: dialect,
    stream,
    bodyJson: Buffer.from(JSON.stringify({ messages })),
    maxOutputTokens: 2_000,
    estimatedInputTokens: ESTIMATE,
  });
}

/** The input in the record of a stream without its last events: as the provider reported it before, else estimated. */
function inputSoFar(dialect: DialectName) {
  const counted = emulator.requests().at(-1)?.usage;
  const reportsFirst = dialect === 'anthropic' || dialect === 'gemini';
  return reportsFirst
    ? { promptTokens: counted?.promptTokens, cachedTokens: counted?.cachedTokens }
    : { promptTokens: ESTIMATE, cachedTokens: 0 };
}

/** Waits until the router has no generation in flight, as after its record. */
async function expectNothingLeft(): Promise<void> {
  await emulator.until(({ in_flight: inFlight }) => inFlight === 0);
  expect(await router.metric('gateway_inference_router_in_flight')).toBe(0);
  expect(await router.metric('gateway_inference_router_usage_counted_total')).toBe(0);
}

describe.each(dialectNames)('%s', (dialect) => {
  beforeEach(async () => {
    // Fills the prompt cache.
    await router.collect(request(dialect, false, '[[say:Hi]]'));
    router.events.length = 0;
  });

  it('a cancelled stream stops the provider, and owes its input and the output so far', async () => {
    const client = new AbortController();
    const messages = router.generate(request(dialect, true, '[[tokens:500]] [[rate:200]]'), {
      signal: client.signal,
    });
    for (let seen = 0; seen < 3; seen += 1) await messages.next();
    client.abort();
    await emulator.until(({ cancelled }) => cancelled === 1);
    await messages.return?.();
    expect(router.events).toMatchObject([
      { cancelled: true, finishReason: '', usage: inputSoFar(dialect), provider: dialect },
    ]);
    const { completionTokens = 0 } = router.events[0]?.usage ?? {};
    expect(completionTokens).toBeGreaterThan(0);
    expect(completionTokens).toBeLessThan(500);
    await expectNothingLeft();
  });

  it('a stream that is cancelled before its first event owes its prompt', async () => {
    const client = new AbortController();
    const running = router.collect(request(dialect, true, '[[fault:hang]]'), { signal: client.signal });
    await emulator.until(({ by_fault: faults }) => faults['hang'] === 1);
    client.abort();
    await running;
    await emulator.until(({ cancelled }) => cancelled === 1);
    expect(router.events).toMatchObject([
      { cancelled: true, provider: dialect, usage: { promptTokens: ESTIMATE, completionTokens: 0 } },
    ]);
    await expectNothingLeft();
  });

  it('a cancelled non-streaming request stops the provider, and owes its estimated prompt', async () => {
    const client = new AbortController();
    const running = router.collect(request(dialect, false, '[[fault:hang]]'), { signal: client.signal });
    await emulator.until(({ by_fault: faults }) => faults['hang'] === 1);
    client.abort();
    await running;
    await emulator.until(({ cancelled }) => cancelled === 1);
    expect(router.events).toMatchObject([
      { cancelled: true, usage: { promptTokens: ESTIMATE, cachedTokens: 0, completionTokens: 0 } },
    ]);
    await expectNothingLeft();
  });

  it.each(['cut-after:4', 'error-event:4', 'malformed-chunk:4', 'end-early:4'])(
    'a stream with the fault %s owes the input that was reported, and the output so far',
    async (fault) => {
      await router.collect(request(dialect, true, `[[say:one two three four five six]] [[fault:${fault}]]`));
      expect(emulator.requests().at(-1)?.usage?.cachedTokens).toBeGreaterThan(1_024);
      expect(router.events).toMatchObject([
        {
          errorCode: 'upstream_error',
          usage: { ...inputSoFar(dialect), completionTokens: 4 },
          // Only Gemini reports the output in every event.
          usageSource:
            dialect === 'gemini' ? UsageSource.USAGE_SOURCE_PROVIDER : UsageSource.USAGE_SOURCE_COUNTED,
        },
      ]);
      await expectNothingLeft();
    },
  );

  it('the only slot is free after all of these', async () => {
    const { error } = await router.collect(request(dialect, true, '[[say:Hi]]'));
    expect(error).toBeUndefined();
  });
});
