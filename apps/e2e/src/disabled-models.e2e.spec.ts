import { startTestEnv, type TestEnv } from './testing/test-env';
import type { Tenant } from '@gateway/test-support';

jest.setTimeout(60_000);

const MODEL = 'demo/small';

describe('a model that an operator disables', () => {
  let testEnv: TestEnv;
  let tenant: Tenant;

  beforeAll(async () => {
    testEnv = await startTestEnv();
    tenant = await testEnv.tenant();
  });
  afterAll(() => testEnv?.stop());

  const setDisabled = (disabled: boolean, model = MODEL) =>
    testEnv.admin.call('PUT', '/api/operator/models/disabled', { model, disabled, reason: 'a test' });
  const completions = () => testEnv.client(tenant.apiKey).chat.completions;
  const messages = [{ role: 'user' as const, content: '[[tokens:40]] [[rate:20]] Hello' }];
  const chat = () =>
    completions()
      .create({ model: MODEL, max_tokens: 4, messages: [{ role: 'user', content: 'Hello' }] })
      .then(
        () => 'ok',
        (error: { code?: string }) => error.code,
      );
  const listed = async () => {
    const models = await testEnv.client(tenant.apiKey).models.list();
    return models.data.some(({ id }) => id === MODEL);
  };

  it('is unknown to new requests and not listed, while a running stream finishes, also after a crash', async () => {
    const stream = await completions().create({ model: MODEL, stream: true, max_tokens: 40, messages });
    let finish: string | null | undefined;
    let disabled = false;
    for await (const chunk of stream) {
      if (!disabled) {
        disabled = true;
        await setDisabled(true);
        expect(await chat()).toBe('model_not_found');
        expect(await listed()).toBe(false);
      }
      finish = chunk.choices[0]?.finish_reason ?? finish;
    }
    expect(finish).toBe('stop');

    await testEnv.crashAndRestart();
    expect(await chat()).toBe('model_not_found');
    await setDisabled(false);
    expect(await chat()).toBe('ok');
    expect(await listed()).toBe(true);
    const { data } = await testEnv.admin.call<{ data: { action: string; target: string }[] }>(
      'GET',
      '/api/audit?action=model.',
    );
    expect(data.map(({ action, target }) => [action, target])).toEqual([
      ['model.enable', MODEL],
      ['model.disable', MODEL],
    ]);
  });
});
