import { execFile } from 'node:child_process';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { promisify } from 'node:util';
import { startGateway, type GatewayProcess } from './testing/gateway-process';

jest.setTimeout(60_000);

const root = path.resolve(__dirname, '../../..');
const readme = readFileSync(path.join(root, 'README.md'), 'utf8');

/** The first code block of a language. */
function example(language: string): string {
  const block = new RegExp(`\`\`\`${language}\\n([\\s\\S]*?)\`\`\``).exec(readme)?.[1];
  if (!block) throw new Error(`the README has no example in ${language}`);
  return block;
}

describe('the examples of the README', () => {
  let gateway: GatewayProcess;

  beforeAll(async () => {
    gateway = await startGateway();
  });

  afterAll(() => gateway?.stop());

  it('point the OpenAI SDK at the gateway', async () => {
    // Below the root, so that it finds the SDK as a reader's own project would.
    const folder = path.join(root, 'dist', 'readme');
    mkdirSync(folder, { recursive: true });
    const file = path.join(folder, 'example.mjs');
    writeFileSync(file, example('ts').replace('http://127.0.0.1:8080/v1', gateway.baseUrl));
    const { stdout } = await promisify(execFile)(process.execPath, [file], {
      env: { PATH: process.env.PATH, GATEWAY_API_KEY: gateway.apiKey },
    });
    expect(stdout).toMatch(/\S/);
  });

  it('name a model that exists, in every language', async () => {
    const response = await fetch(`${gateway.baseUrl}/models`, {
      headers: { authorization: `Bearer ${gateway.apiKey}` },
    });
    const { data } = (await response.json()) as { data: { id: string }[] };
    const named = new Set([...readme.matchAll(/demo\/[a-z-]+/g)].map(([id]) => id));
    expect(named.size).toBeGreaterThan(0);
    for (const id of named) expect(data.map((model) => model.id)).toContain(id);
  });
});
