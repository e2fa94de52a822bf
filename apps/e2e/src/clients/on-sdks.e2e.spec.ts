import type { Tenant } from '@gateway/test-support';
import type { ClientProcess, ClientResult } from '../testing/client-process';
import { clientsOnSdks } from '../testing/tested-clients';
import { joinTestEnv, type SharedTestEnv } from '../testing/test-env';

jest.setTimeout(60_000);

const TEXT = expect.stringMatching(/\S/) as unknown;

let testEnv: SharedTestEnv;
let tenant: Tenant;

beforeAll(async () => {
  testEnv = await joinTestEnv();
  tenant = await testEnv.tenant();
});
afterAll(() => testEnv?.stop());

describe.each(clientsOnSdks.map((client) => [client.name, client] as const))('%s', (name, client) => {
  const test = client.it;
  let program: ClientProcess | undefined;

  const run = async (command: string): Promise<unknown> => {
    program ??= client.start();
    const { value, text }: ClientResult = await program.run(command, {
      baseURL: testEnv.gateway.baseUrl,
      apiKey: tenant.apiKey,
      model: 'demo/standard',
      prompt: 'Hello',
    });
    if (text !== undefined) throw new Error(text);
    return value;
  };

  afterAll(() => program?.stop());

  test('completes', async () => {
    expect(await run('complete')).toEqual(TEXT);
  });

  test('streams', async () => {
    expect(await run('stream')).toMatchObject({ text: TEXT });
  });

  // A tool of instructor is its structured output.
  if (name !== 'instructor') {
    test('calls a tool and returns its result to the model', async () => {
      expect(await run('callTool')).toEqual({ text: TEXT, cities: [TEXT] });
    });
  }

  test('gets structured output', async () => {
    expect(await run('structured')).toEqual({ city: expect.any(String) });
  });
});
