import { execFile } from 'node:child_process';
import {
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import path from 'node:path';
import { promisify } from 'node:util';
import { signIn } from '@gateway/test-support';
import { startGateway, type GatewayProcess } from './testing/gateway-process';
import { pythonWith } from './testing/python';

jest.setTimeout(120_000);

const run = promisify(execFile);
const root = path.resolve(__dirname, '../../..');
const python = pythonWith('openai');

/** Commands that install or need more than a running gateway; the spec of documented commands checks them. */
const NOT_RUN = /^\s*(npm|helm|kubectl|kind|docker|for program)\b/m;
/** Requests per minute count per UTC minute: the tutorial about limits must not cross into the next one. */
const MINUTE_MS = 60_000;
const LIMITS_NEED_MS = 15_000;

interface Block {
  readonly language: string;
  readonly code: string;
}

const tutorials = readdirSync(path.join(root, 'docs/tutorials')).map((name) => `docs/tutorials/${name}`);
const AUTOMATION = 'docs/how-to/automate-with-management-tokens.md';
const CUSTOMERS = 'docs/how-to/charge-your-own-customers.md';
const documents = ['README.md', ...tutorials, AUTOMATION, CUSTOMERS].map((name) => {
  const text = readFileSync(path.join(root, name), 'utf8');
  const blocks = [...text.matchAll(/^```(\w+)\n([\s\S]*?)^```$/gm)].map(
    ([, language = '', code = '']): Block => ({ language, code }),
  );
  return { name, text, blocks };
});

/** What the shell blocks of a document print, in this order. */
const PRINTED: Readonly<Record<string, readonly RegExp[]>> = {
  'README.md': [/"object":"chat\.completion"/],
  'docs/tutorials/quickstart.md': [/"object":"chat\.completion"/, /"model_not_found"/, /"available":/],
  'docs/tutorials/first-statement.md': [
    /org-/,
    /"amount_usd":"10/,
    /200\n200\n429\n/,
    /^model_not_allowed$/m,
    /"closing_balance_usd":/,
    /"total_usage":/,
    /key\.create/,
  ],
  [AUTOMATION]: [/"data":\[\{"id":"org-/],
  [CUSTOMERS]: [/"object":"chat\.completion"/],
  'docs/tutorials/kubernetes-trial.md': [/"object":"chat\.completion"/],
};

describe('the code blocks of the README, the tutorials, and the examples of automation and billing', () => {
  let gateway: GatewayProcess;
  /** A management token of the platform. */
  let managementToken: string;
  /** Below the root, so that scripts find the SDK as a reader's own project would. */
  let folder: string;

  beforeAll(async () => {
    gateway = await startGateway();
    const admin = await signIn(gateway.dashboardUrl, gateway.adminEmail, gateway.adminPassword);
    ({ secret: managementToken } = await admin.call<{ secret: string }>('POST', '/api/management-tokens', {
      ...{ name: 'automation', access: 'read_write' },
      expires_on: new Date(Date.now() + 86_400_000).toISOString().slice(0, 10),
    }));
    mkdirSync(path.join(root, 'dist'), { recursive: true });
    folder = mkdtempSync(path.join(root, 'dist', 'documents-'));
    symlinkSync(gateway.stateDirectory, path.join(folder, '.gateway'));
  });

  afterAll(async () => {
    if (folder) rmSync(folder, { recursive: true, force: true });
    await gateway?.stop();
  });

  const local = (code: string) =>
    code
      .replaceAll('http://127.0.0.1:8080/v1', gateway.baseUrl)
      .replaceAll('http://127.0.0.1:8081', gateway.dashboardUrl);
  const environment = () => ({
    PATH: process.env.PATH,
    HOME: process.env.HOME,
    GATEWAY_API_KEY: gateway.apiKey,
    GATEWAY_MANAGEMENT_TOKEN: managementToken,
  });

  it.each(documents)('run in a shell and print what $name says', async ({ name, blocks }) => {
    const runnable = blocks.filter(({ language, code }) => language === 'sh' && !NOT_RUN.test(code));
    expect(runnable.length).toBeGreaterThan(0);
    const left = MINUTE_MS - (Date.now() % MINUTE_MS);
    if (left < LIMITS_NEED_MS) await new Promise((resolve) => setTimeout(resolve, left));
    const script = ['set -euo pipefail', ...runnable.map(({ code }) => local(code))].join('\n');
    const { stdout } = await run('bash', ['-c', script], { cwd: folder, env: environment() });
    let from = 0;
    for (const printed of PRINTED[name] ?? []) {
      const found = printed.exec(stdout.slice(from));
      if (!found) throw new Error(`${printed} is not in\n${stdout.slice(from)}`);
      from += found.index + found[0].length;
    }
    expect(PRINTED).toHaveProperty([name]);
  });

  const inLanguages = (...languages: readonly string[]) =>
    documents.flatMap(({ name, blocks }) =>
      blocks.filter(({ language }) => languages.includes(language)).map(({ code }) => ({ name, code })),
    );

  it.each(inLanguages('ts', 'js'))('run in Node, in $name', async ({ code }) => {
    const file = path.join(folder, 'example.mjs');
    writeFileSync(file, local(code));
    const { stdout } = await run(process.execPath, [file], { env: environment() });
    expect(stdout).toMatch(/\S/);
  });

  for (const { name, code } of inLanguages('python')) {
    python.it(`run in Python, in ${name}`, async () => {
      const file = path.join(folder, 'example.py');
      writeFileSync(file, local(code));
      expect(await python.run([file], { env: { GATEWAY_API_KEY: gateway.apiKey } })).toMatch(/\S/);
    });
  }

  it('are in no other language', () => {
    const languages = new Set(documents.flatMap(({ blocks }) => blocks.map(({ language }) => language)));
    expect([...languages].sort()).toEqual(['js', 'python', 'sh', 'ts', 'yaml']);
    // A test of the model catalogue loads this one.
    const inYaml = documents.flatMap(({ name, blocks }) =>
      blocks.filter(({ language }) => language === 'yaml').map(() => name),
    );
    expect(inYaml).toEqual(['README.md']);
  });

  it('name models that exist', async () => {
    const response = await fetch(`${gateway.baseUrl}/models`, {
      headers: { authorization: `Bearer ${gateway.apiKey}` },
    });
    const { data } = (await response.json()) as { data: { id: string }[] };
    const named = new Set(documents.flatMap(({ text }) => text.match(/demo\/[a-z-]+/g) ?? []));
    named.delete('demo/unknown');
    expect(named.size).toBeGreaterThan(0);
    for (const id of named) expect(data.map((model) => model.id)).toContain(id);
  });
});
