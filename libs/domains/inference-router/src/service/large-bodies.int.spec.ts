import type { EncodeJob } from '../core/ports';
import type { DialectName } from '../core/dialects/registry';
import { generateRequest, model, provider, withRouter } from '../testing/router-under-test';
import { failure, ScriptedProvider } from '../testing/scripted-provider';

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
