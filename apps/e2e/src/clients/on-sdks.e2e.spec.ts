import type { Tenant } from '@gateway/test-support';
import type { ClientProcess, ClientResult } from '../testing/client-process';
import { clientsOnSdks } from '../testing/tested-clients';
import { joinTestEnv, type SharedTestEnv } from '../testing/test-env';

jest.setTimeout(60_000);

/** Their structured output is a JSON response format; that of the others is a tool, or they do not stream it. */
const STREAM_JSON = ['ai-sdk', 'openai-agents', 'openai_agents', 'pydantic_ai', 'instructor'];

const TEXT = expect.stringMatching(/\S/) as unknown;

let testEnv: SharedTestEnv;
let tenant: Tenant;
/** A key that allows JSON in streams. */
let jsonKey: string;

beforeAll(async () => {
  testEnv = await joinTestEnv();
  tenant = await testEnv.tenant();
  ({ apiKey: jsonKey } = await tenant.createKey({ json_streaming: true }));
});
afterAll(() => testEnv?.stop());

describe.each(clientsOnSdks.map((client) => [client.name, client] as const))('%s', (name, client) => {
  const test = client.it;
  let program: ClientProcess | undefined;

  const run = async (command: string, apiKey = tenant.apiKey): Promise<unknown> => {
    program ??= client.start();
    const { value, text }: ClientResult = await program.run(command, {
      baseURL: testEnv.gateway.baseUrl,
      apiKey,
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

  if (STREAM_JSON.some((one) => client.script.includes(one))) {
    test('streams structured output only with a key that allows JSON in streams', async () => {
      await expect(run('streamStructured')).rejects.toThrow('JSON response format cannot be combined');
      expect(await run('streamStructured', jsonKey)).toEqual({ city: expect.any(String) });
    });
  }
});
