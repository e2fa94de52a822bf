import { pythonWith } from './testing/python';
import { joinWorld, type CommonWorld } from './testing/world';

jest.setTimeout(120_000);

const python = pythonWith('openai');

describe('the official openai Python SDK, unchanged', () => {
  let world: CommonWorld | undefined;

  afterAll(() => world?.stop());

  python.it('completes, streams, calls tools, answers JSON and raises the right classes', async () => {
    world = await joinWorld();
    const tenant = await world.tenant();
    const output = await python.run(['sdk.py'], {
      env: { GATEWAY_BASE_URL: world.gateway.baseUrl, GATEWAY_API_KEY: tenant.apiKey },
    });
    expect(output.trim()).toBe('ok');
  });
});
