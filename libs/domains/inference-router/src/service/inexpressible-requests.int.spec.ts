import type { DialectName } from '../core/dialects/registry';
import { generateRequest, model, provider, RouterUnderTest } from '../testing/router-under-test';
import { failure, helloCompletion, ScriptedProvider } from '../testing/scripted-provider';

/** What no dialect but OpenAI's can express. */
const INEXPRESSIBLE = { messages: [{ role: 'user', content: 'Hi' }], logit_bias: { 50256: -100 } };
const MODELS: Readonly<Record<string, readonly DialectName[]>> = {
  'acme/mixed': ['anthropic', 'openai'],
  'acme/reversed': ['openai', 'converse'],
  'acme/neither': ['anthropic', 'converse'],
};
const MAX_ATTEMPTS = 2;

let server: ScriptedProvider;
let router: RouterUnderTest;

beforeAll(async () => {
  server = await ScriptedProvider.start();
  router = await RouterUnderTest.start(
    Object.entries(MODELS).map(([id, dialects]) =>
      model(
        dialects.map((dialect) => provider(dialect, server.url, { dialect, maxAttempts: MAX_ATTEMPTS })),
        { id },
      ),
    ),
  );
});
afterAll(async () => {
  await router.stop();
  await server.stop();
});
beforeEach(() => {
  router.events.length = 0;
  server.play(helloCompletion);
});

const send = (modelId: string) =>
  router.collect(generateRequest({ modelId, bodyJson: Buffer.from(JSON.stringify(INEXPRESSIBLE)) }));
const attempts = () =>
  router.events.flatMap((event) => event.attempts.map((each) => [each.provider, each.reason]));

it('goes to the next target whose dialect can express it', async () => {
  const { error } = await send('acme/mixed');
  expect(error).toBeUndefined();
  expect(attempts()).toEqual([['openai', 'order']]);
});

it('is refused with the first reason where no dialect can express it, and nothing is called', async () => {
  const calls = server.calls.length;
  const { error } = await send('acme/neither');
  expect(error).toMatchObject({ code: 'invalid_request', param: 'logit_bias' });
  expect(server.calls).toHaveLength(calls);
});

it('reports the failure of the target that can express it', async () => {
  server.play(failure(503));
  expect((await send('acme/mixed')).error).toMatchObject({ code: 'no_capacity' });
  expect((await send('acme/reversed')).error).toMatchObject({ code: 'no_capacity' });
});

it('retries the last target that can express it, also after a failure that only the last one retries', async () => {
  server.play(failure(429), helloCompletion);
  expect((await send('acme/reversed')).error).toBeUndefined();
  expect(attempts()).toEqual([
    ['openai', 'order'],
    ['openai', 'retry'],
  ]);
});
