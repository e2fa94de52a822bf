import { pythonWith } from './testing/python';
import { joinTestEnv, type SharedTestEnv } from './testing/test-env';

jest.setTimeout(120_000);

const python = pythonWith('openai');

describe('the official openai Python SDK, unmodified', () => {
  let testEnv: SharedTestEnv | undefined;

  afterAll(() => testEnv?.stop());

  python.it('completes, streams, calls tools, returns JSON and raises the right exceptions', async () => {
    testEnv = await joinTestEnv();
    const tenant = await testEnv.tenant();
    const output = await python.run(['sdk.py'], {
      env: { GATEWAY_BASE_URL: testEnv.gateway.baseUrl, GATEWAY_API_KEY: tenant.apiKey },
    });
    expect(output.trim()).toBe('ok');
  });
});
