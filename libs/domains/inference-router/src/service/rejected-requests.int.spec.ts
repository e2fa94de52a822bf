import { generateRequest, model, provider, RouterUnderTest } from '../testing/router-under-test';
import { failure, helloCompletion, ScriptedProvider } from '../testing/scripted-provider';

let first: ScriptedProvider;
let second: ScriptedProvider;
let router: RouterUnderTest;

const HELLO = { messages: [{ role: 'user', content: 'Hi' }] };

beforeAll(async () => {
  [first, second] = await Promise.all([ScriptedProvider.start(), ScriptedProvider.start()]);
  const claude = provider('claude', first.url, { dialect: 'anthropic' });
  const server = (name: string, url: string) => provider(name, url, { maxAttempts: 2 });
  router = await RouterUnderTest.start([
    model([claude, server('server', second.url)], { id: 'acme/mixed' }),
    model([server('first', first.url), server('second', second.url)], { id: 'acme/same' }),
    model([server('alone', first.url)], { id: 'acme/alone' }),
    model([server('other', second.url)], { id: 'acme/other' }),
  ]);
});
afterAll(async () => {
  await router.stop();
  await Promise.all([first.stop(), second.stop()]);
});
beforeEach(() => {
  for (const server of [first, second]) {
    server.calls.length = 0;
    server.play(helloCompletion);
  }
});

const send = (modelId: string, more: object = {}) =>
  router.collect(generateRequest({ modelId, bodyJson: Buffer.from(JSON.stringify({ ...HELLO, ...more })) }));

describe('a request that a provider rejects', () => {
  const rejected = failure(400, { type: 'invalid_request_error', message: 'messages: no' });

  it('is sent to a target of another dialect', async () => {
    first.play(rejected);
    expect((await send('acme/mixed')).error).toBeUndefined();
    expect(second.calls).toHaveLength(1);
  });

  it('is not sent to another target of the same dialect', async () => {
    first.play(rejected);
    expect((await send('acme/same')).error).toMatchObject({ code: 'invalid_request' });
    expect(second.calls).toHaveLength(0);
  });

  it.each([400, 401, 503])(
    'gets the error of the first rejection when the other target fails with %d',
    async (status) => {
      first.play(rejected);
      second.play(failure(status, { message: 'another problem' }));
      const { error } = await send('acme/mixed');
      expect(error).toMatchObject({
        code: 'invalid_request',
        message: expect.stringContaining('messages: no'),
      });
    },
  );
});

describe('a field that the client did not send', () => {
  const refuses = (param: string) =>
    failure(400, { code: 'unsupported_parameter', param, message: `Unsupported parameter: '${param}'` });

  it('is an error of the configuration, and the next target is called', async () => {
    first.play(refuses('stream_options'));
    expect((await send('acme/same')).error).toBeUndefined();
    first.play(refuses('stream_options'));
    expect((await send('acme/alone')).error).toMatchObject({ code: 'upstream_config_error' });
  });

  it('is an error of the request when the provider names a part of the prompt in its own words', async () => {
    // Azure's content filter.
    first.play(
      failure(400, { code: 'content_filter', param: 'prompt', message: 'The prompt was filtered.' }),
    );
    expect((await send('acme/alone')).error).toMatchObject({ code: 'invalid_request' });
  });

  it('is an error of the request when the client sent it', async () => {
    first.play(refuses('temperature'));
    expect((await send('acme/alone', { temperature: 2 })).error).toMatchObject({
      code: 'invalid_request',
      param: 'temperature',
    });
  });
});

describe('the name of the output limit', () => {
  const REFUSES = {
    code: 'unsupported_parameter',
    param: 'max_tokens',
    message:
      "Unsupported parameter: 'max_tokens' is not supported with this model. Use 'max_completion_tokens' instead.",
  };

  it('is replaced by the other name once it was refused, and stays replaced', async () => {
    first.play(failure(400, REFUSES), helloCompletion);
    expect((await send('acme/alone')).error).toBeUndefined();
    expect((await send('acme/alone')).error).toBeUndefined();
    const names = first.calls.map(({ body }) => Object.keys(body).filter((name) => name.startsWith('max_')));
    expect(names).toEqual([['max_tokens'], ['max_completion_tokens'], ['max_completion_tokens']]);
  });

  it('is replaced once when concurrent requests find it refused', async () => {
    second.play((response, call) =>
      ('max_tokens' in call.body ? failure(400, REFUSES) : helloCompletion)(response, call),
    );
    const outcomes = await Promise.all(Array.from({ length: 4 }, () => send('acme/other')));
    expect(outcomes.map(({ error }) => error)).toEqual(Array(4).fill(undefined));
    second.calls.length = 0;
    expect((await send('acme/other')).error).toBeUndefined();
    expect(second.calls).toHaveLength(1);
  });

  it('is an error of the configuration when both names are refused', async () => {
    first.play(failure(400, REFUSES), failure(400, REFUSES));
    expect((await send('acme/alone')).error).toMatchObject({ code: 'upstream_config_error' });
    expect(first.calls).toHaveLength(2);
  });
});
