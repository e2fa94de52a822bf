import { execFile, execFileSync } from 'node:child_process';
import path from 'node:path';
import { promisify } from 'node:util';
import { startWorld, type World } from './support/world';

jest.setTimeout(120_000);

const python = pythonWithSdk();
const inCi = process.env.CI === 'true';

// Without Python and its SDK this says so; in CI it fails, since the summary must not look whole when it is not.
const whenThere = python || inCi ? it : it.skip;
if (!python && !inCi) {
  console.warn('SKIPPED: the Python SDK. `pip install -r apps/e2e/python/requirements.txt` brings it.');
}

describe('the official openai Python SDK, unchanged', () => {
  let world: World | undefined;

  afterAll(() => world?.stop());

  whenThere('completes, streams, calls tools, answers JSON and raises the right classes', async () => {
    if (!python) throw new Error('Python with the openai package is missing; .ci/run installs it.');
    world = await startWorld();
    const tenant = await world.tenant();
    const { stdout } = await promisify(execFile)(python, [path.resolve(__dirname, '../python/sdk.py')], {
      env: {
        PATH: process.env.PATH,
        GATEWAY_BASE_URL: world.gateway.baseUrl,
        GATEWAY_API_KEY: tenant.apiKey,
      },
    });
    expect(stdout.trim()).toBe('ok');
  });
});

function pythonWithSdk(): string | undefined {
  for (const candidate of [process.env.GATEWAY_TEST_PYTHON, 'python3']) {
    if (!candidate) continue;
    try {
      execFileSync(candidate, ['-c', 'import openai; openai.OpenAI'], { stdio: 'ignore' });
      return candidate;
    } catch {
      // The next one may have it.
    }
  }
  return undefined;
}
