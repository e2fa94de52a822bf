import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createSilentLogger, systemClock } from '@gateway/runtime';
import { readSecretsFrom } from '../node/secrets';
import { createFileCatalogue } from './file-catalogue';
import { CatalogueError, catalogueNeedsEmulator, parseCatalogue } from './parse-catalogue';

const secrets = {
  fromEnvironment: (name: string) => (name === 'KEY' ? ' sk-real ' : undefined),
  fromFile: () => undefined,
};
const options = { version: 1, variables: { MODEL_EMULATOR_URL: 'http://127.0.0.1:9/v1' }, secrets };

const minimal = `
providers:
  - name: p
    base_url: https://p.example/v1/
    api_key_env: KEY
models:
  - id: a/b
    targets: [{ provider: p, model: b }]
    context_window: 100
    max_output_tokens: 10
    prices: { input: "0.15", output: "0.6" }
`;

function issuesOf(text: string): readonly string[] {
  try {
    parseCatalogue(text, options);
  } catch (error) {
    if (error instanceof CatalogueError) return error.issues;
    throw error;
  }
  return [];
}

describe('the models file', () => {
  it('plans price changes in ascending order, at times in UTC', () => {
    const planned = (...times: readonly string[]) =>
      `${minimal}    price_changes:\n${times.map((from) => `      - { from: ${from}, input: "1", output: "2" }\n`).join('')}`;
    const [model] = parseCatalogue(
      planned('2027-01-01T00:00:00Z', '2028-01-01T00:00:00Z'),
      options,
    ).models.values();
    expect(model?.prices.inputNanoUsdPerMillion).toBe(150_000_000n);
    expect(model?.priceChanges).toMatchObject([
      { from: Date.UTC(2027, 0), prices: { inputNanoUsdPerMillion: 1_000_000_000n } },
      { from: Date.UTC(2028, 0) },
    ]);
    expect(issuesOf(planned('2028-01-01T00:00:00Z', '2027-01-01T00:00:00Z'))).toEqual([
      expect.stringContaining('must be in ascending order of "from"'),
    ]);
    expect(issuesOf(planned('2027-01-01'))).toEqual([expect.stringContaining('must be a time in UTC')]);
  });

  it('places a target in its region, or else in that of its provider', () => {
    const regionsOf = (text: string) =>
      [...parseCatalogue(text, options).models.values()].flatMap(({ targets }) =>
        targets.map(({ region }) => region),
      );
    const two = minimal.replace('model: b }', 'model: b }, { provider: p, model: c, region: us-east-1 }');
    expect(regionsOf(two)).toEqual([undefined, 'us-east-1']);
    expect(regionsOf(two.replace('api_key_env: KEY', 'api_key_env: KEY\n    region: eu'))).toEqual([
      'eu',
      'us-east-1',
    ]);
    expect(issuesOf(minimal.replace('model: b }', 'model: b, region: "a b" }'))).toEqual([
      expect.stringContaining('must be letters, digits and hyphens'),
    ]);
  });

  it('cannot use stored secrets', () => {
    expect(issuesOf(minimal.replace('api_key_env: KEY', 'api_key_secret: key'))).toEqual([
      'providers[0].api_key_secret (line 5): stored secrets require GATEWAY_CATALOGUE=database',
    ]);
    expect(
      issuesOf(minimal.replace('api_key_env: KEY', 'api_key_env: KEY\n    api_key_secret: key')),
    ).toEqual(['providers[0] (line 3): api_key_env and api_key_secret are mutually exclusive']);
  });

  it('is valid in every example of docs/how-to/connect-a-provider.md', async () => {
    const guide = await readFile('docs/how-to/connect-a-provider.md', 'utf8');
    const examples = [...guide.matchAll(/```yaml\n([\s\S]*?)```/g)].map(([, text = '']) => text);
    const secrets = { fromEnvironment: (name: string) => `value-of-${name}`, fromFile: () => undefined };
    const parsed = examples.map((text) => parseCatalogue(text, { ...options, secrets, variables: {} }));
    expect(
      parsed.map(({ models }) => [...models.values()].map(({ targets }) => targets[0]?.provider)),
    ).toEqual([
      [
        expect.objectContaining({
          name: 'openai',
          baseUrl: 'https://api.openai.com/v1',
          credential: { kind: 'bearer', apiKey: 'value-of-OPENAI_API_KEY' },
        }),
      ],
      [
        expect.objectContaining({
          name: 'claude',
          dialect: 'anthropic',
          credential: { kind: 'header', header: 'x-api-key', apiKey: 'value-of-ANTHROPIC_API_KEY' },
        }),
      ],
      [expect.objectContaining({ name: 'gemini', dialect: 'gemini' })],
      [
        expect.objectContaining({
          name: 'bedrock',
          dialect: 'converse',
          credential: { kind: 'sigv4', region: 'us-east-1' },
        }),
      ],
      [
        expect.objectContaining({
          name: 'vertex',
          dialect: 'gemini',
          credential: { kind: 'google', keyFile: undefined },
        }),
      ],
      [
        expect.objectContaining({
          name: 'azure',
          dialect: 'openai',
          baseUrl: 'https://my-resource.openai.azure.com/openai/v1',
        }),
      ],
      [
        expect.objectContaining({
          name: 'ollama',
          baseUrl: 'http://127.0.0.1:11434/v1',
          credential: { kind: 'none' },
        }),
      ],
      [
        expect.objectContaining({
          name: 'llama-cpp',
          baseUrl: 'http://127.0.0.1:8090/v1',
          credential: { kind: 'none' },
        }),
      ],
      [
        expect.objectContaining({
          name: 'vllm',
          baseUrl: 'http://127.0.0.1:8000/v1',
          credential: { kind: 'none' },
        }),
      ],
    ]);
    expect(examples.some(catalogueNeedsEmulator)).toBe(false);
  });

  it('is valid in the README, with a model of each family', async () => {
    const readme = await readFile('README.md', 'utf8');
    const [, example = ''] = /```yaml\n([\s\S]*?)```/.exec(readme) ?? [];
    const secrets = { fromEnvironment: (name: string) => `value-of-${name}`, fromFile: () => undefined };
    const { models } = parseCatalogue(example, { ...options, secrets, variables: {} });
    expect([...models.values()].map(({ targets }) => targets[0]?.provider.dialect)).toEqual([
      'openai',
      'anthropic',
      'gemini',
      'converse',
    ]);
  });

  it('of this repository is valid, uses the emulator, and has at least four enabled models and a disabled one', async () => {
    const text = await readFile('models.yaml', 'utf8');
    const models = [...parseCatalogue(text, options).models.values()];
    expect(models.filter(({ disabled }) => !disabled).length).toBeGreaterThanOrEqual(4);
    expect(models.some(({ disabled }) => disabled)).toBe(true);
    expect(new Set(models.map(({ prices }) => prices.inputNanoUsdPerMillion)).size).toBe(models.length);
    expect(catalogueNeedsEmulator(text)).toBe(true);
  });

  it('of this repository is valid with its commented examples', async () => {
    const text = await readFile('models.yaml', 'utf8');
    const uncommented = text.replace(/^( *)# ((?: *- | {2,})\S.*|$)/gm, '$1$2');
    const read = parseCatalogue(uncommented, {
      ...options,
      secrets: { fromEnvironment: () => 'k', fromFile: () => 'k' },
    });
    expect([...read.providers.keys()]).toEqual(['emulator', 'openai', 'bedrock', 'vllm']);
    expect(read.models.get('meta/llama-3.3-70b')?.targets).toHaveLength(2);
  });

  it('has defaults', () => {
    const { models } = parseCatalogue(minimal, options);
    expect(models.get('a/b')).toMatchObject({
      name: 'a/b',
      prices: {
        inputNanoUsdPerMillion: 150_000_000n,
        cachedInputNanoUsdPerMillion: 150_000_000n,
        outputNanoUsdPerMillion: 600_000_000n,
        reasoningNanoUsdPerMillion: 600_000_000n,
        imageNanoUsdPerMillion: 150_000_000n,
      },
      targets: [
        {
          provider: { baseUrl: 'https://p.example/v1', credential: { kind: 'bearer', apiKey: 'sk-real' } },
          providerModel: 'b',
        },
      ],
    });
    expect(catalogueNeedsEmulator(minimal)).toBe(false);
  });

  it('reads the price of each kind of token', () => {
    const priced = minimal.replace(
      /prices: .*/,
      'prices: { input: "1", cached_input: "0.2", cache_write: "1.25", cache_write_1h: "2", output: "3", reasoning: "4", image: "5" }',
    );
    expect(parseCatalogue(priced, options).models.get('a/b')?.prices).toEqual({
      inputNanoUsdPerMillion: 1_000_000_000n,
      cachedInputNanoUsdPerMillion: 200_000_000n,
      cacheWriteNanoUsdPerMillion: 1_250_000_000n,
      cacheWrite1hNanoUsdPerMillion: 2_000_000_000n,
      outputNanoUsdPerMillion: 3_000_000_000n,
      reasoningNanoUsdPerMillion: 4_000_000_000n,
      imageNanoUsdPerMillion: 5_000_000_000n,
      tiers: [],
    });
  });

  describe('the cost of a target', () => {
    const targetWith = (cost: string) => minimal.replace('model: b }', `model: b, cost: ${cost} }`);

    it('has the defaults of prices, and is unknown when it is not named', () => {
      const [target] = parseCatalogue(
        targetWith('{ input: "0.1", output: "0.5", image: "0" }'),
        options,
      ).models.get('a/b')!.targets;
      expect(target?.cost).toEqual({
        inputNanoUsdPerMillion: 100_000_000n,
        cachedInputNanoUsdPerMillion: 100_000_000n,
        cacheWriteNanoUsdPerMillion: 100_000_000n,
        cacheWrite1hNanoUsdPerMillion: 100_000_000n,
        outputNanoUsdPerMillion: 500_000_000n,
        reasoningNanoUsdPerMillion: 500_000_000n,
        imageNanoUsdPerMillion: 0n,
        tiers: [],
      });
      expect(parseCatalogue(minimal, options).models.get('a/b')?.targets[0]?.cost).toBeUndefined();
    });

    it.each([
      ['{ input: "0.1" }', 'models[0].targets[0].cost.output (line 8): must be US dollars'],
      ['{ input: 0.1, output: "1" }', 'models[0].targets[0].cost.input (line 8): must be US dollars'],
      ['{ input: "-1", output: "1" }', 'models[0].targets[0].cost.input (line 8): must be a decimal'],
      ['{ input: "1", output: "1", request: "1" }', 'models[0].targets[0].cost'],
    ])('is validated like prices: %s', (cost, issue) => {
      expect(issuesOf(targetWith(cost))).toEqual([expect.stringContaining(issue)]);
    });
  });

  describe('prices of cache writes and tiers', () => {
    const withPrices = (prices: string) => minimal.replace(/ {4}prices.*\n/, `    prices: ${prices}\n`);

    it('have defaults, in each tier for itself', () => {
      const model = parseCatalogue(
        withPrices(
          '{ input: "3", cache_write: "3.75", output: "15", tiers: [{ above: 200000, input: "6", cache_write_1h: "12", output: "22.5" }] }',
        ),
        options,
      ).models.get('a/b');
      expect(model?.prices).toEqual({
        inputNanoUsdPerMillion: 3_000_000_000n,
        cachedInputNanoUsdPerMillion: 3_000_000_000n,
        cacheWriteNanoUsdPerMillion: 3_750_000_000n,
        cacheWrite1hNanoUsdPerMillion: 3_750_000_000n,
        outputNanoUsdPerMillion: 15_000_000_000n,
        reasoningNanoUsdPerMillion: 15_000_000_000n,
        imageNanoUsdPerMillion: 3_000_000_000n,
        tiers: [
          {
            abovePromptTokens: 200_000,
            inputNanoUsdPerMillion: 6_000_000_000n,
            cachedInputNanoUsdPerMillion: 6_000_000_000n,
            cacheWriteNanoUsdPerMillion: 6_000_000_000n,
            cacheWrite1hNanoUsdPerMillion: 12_000_000_000n,
            outputNanoUsdPerMillion: 22_500_000_000n,
            reasoningNanoUsdPerMillion: 22_500_000_000n,
            imageNanoUsdPerMillion: 6_000_000_000n,
          },
        ],
      });
    });

    it.each([
      ['{ above: 2, input: "1", output: "1" }, { above: 2, input: "1", output: "1" }', 'in ascending order'],
      ['{ above: 0, input: "1", output: "1" }', 'tiers[0].above'],
      ['{ input: "1", output: "1" }', 'tiers[0].above'],
      ['{ above: 2, input: "1" }', 'tiers[0].output'],
    ])('rejects the tiers %s', (tiers, issue) => {
      expect(issuesOf(withPrices(`{ input: "1", output: "1", tiers: [${tiers}] }`))).toEqual([
        expect.stringContaining(issue),
      ]);
    });
  });

  it('rejects a model without a price', () => {
    expect(issuesOf(minimal.replace(/ {4}prices.*\n/, ''))).toEqual([
      'models[0].prices (line 7): is required: a model needs prices',
    ]);
    expect(issuesOf(minimal.replace('output: "0.6"', ''))).toEqual([
      expect.stringContaining('models[0].prices.output (line 11): must be US dollars'),
    ]);
    expect(issuesOf(minimal.replace('"0.6"', '0.6'))).toHaveLength(1);
    expect(issuesOf(minimal.replace('"0.6"', '"-1"'))).toHaveLength(1);
  });

  it('reports all issues with their lines and without secrets', () => {
    const issues = issuesOf(`
providers:
  - { name: p, base_url: "\${NOWHERE}/v1", api_key_env: MISSING }
  - { name: p, base_url: "ftp://u:secretpw@h" }
models:
  - &m
    id: a/b
    targets: [{ provider: unknown, model: b }]
    context_window: 100
    max_output_tokens: 10
    prices: { input: "1", output: "1" }
  - *m
`);
    expect(issues).toEqual([
      'providers[0].base_url (line 3): unknown variable ${NOWHERE}',
      'providers[0].api_key_env (line 3): the variable MISSING is missing or empty',
      'providers[1].name (line 4): "p" is not unique',
      'providers[1].base_url (line 4): must be an http or https URL',
      'models[0].targets[0].provider (line 8): unknown provider "unknown"',
      'models[1].id (line 12): "a/b" is not unique',
      'models[1].targets[0].provider (line 12): unknown provider "unknown"',
    ]);
  });

  it.each(['n_predict', 'max_new_tokens', 'num_predict', 'best_of', 'options', 'max_tokens', 'n'])(
    'rejects %s as an extra parameter, since it could make a request cost more than its hold',
    (field) => {
      expect(issuesOf(`${minimal}    extra_parameters: [${field}]\n`)).toHaveLength(1);
      expect(issuesOf(`${minimal}    extra_parameters: [top_k]\n`)).toEqual([]);
    },
  );

  it.each([
    ['routing: weight', 'weight: 3', []],
    ['routing: weight', '', []],
    ['routing: price', 'cost: { input: "1", output: "1" }', []],
    ['routing: price', '', ['targets[0].cost (line 8): is required by "routing: price"']],
    ['', 'weight: 3', ['targets[0].weight (line 8): needs "routing: weight"']],
    ['routing: weight', 'weight: 0', [expect.stringContaining('targets[0].weight (line 8)')]],
    ['routing: random', '', [expect.stringContaining('routing (line')]],
  ])('checks the routing "%s" with a target with "%s"', (routing, field, expected) => {
    const target = `targets: [{ provider: p, model: b${field && `, ${field}`} }]`;
    const text = minimal.replace(/targets: .*/, target) + (routing && `    ${routing}\n`);
    expect(issuesOf(text)).toEqual(
      expected.map((issue) => (typeof issue === 'string' ? `models[0].${issue}` : issue)),
    );
  });

  it('rejects unknown fields, contradictory limits and broken YAML', () => {
    expect(issuesOf(minimal.replace('targets:', 'target: x\n    targets:'))).toHaveLength(1);
    expect(issuesOf(minimal.replace('max_output_tokens: 10', 'max_output_tokens: 101'))).toEqual([
      'models[0].max_output_tokens (line 10): is above context_window',
    ]);
    expect(issuesOf(`${minimal}    reasoning_efforts: [low]\n`)).toHaveLength(1);
    // It reasons as it likes.
    expect(issuesOf(`${minimal}    capabilities: [reasoning]\n`)).toEqual([]);
    expect(issuesOf('providers: [')).not.toHaveLength(0);
  });
});

describe('the catalogue of a file', () => {
  it('is reloaded when the file changes, and stays active while the file is not valid', async () => {
    const directory = await mkdtemp(join(tmpdir(), 'models-'));
    const path = join(directory, 'models.yaml');
    await writeFile(path, minimal);
    const source = createFileCatalogue({
      path,
      variables: {},
      secrets,
      clock: systemClock,
      log: createSilentLogger(),
      pollMs: 3_600_000,
    });
    await source.start();
    let changes = 0;
    source.onChange(() => (changes += 1));
    const { version } = source.current();
    expect(await source.reload()).toBe(false);
    await writeFile(path, 'models: nonsense');
    expect(await source.reload()).toBe(false);
    expect(source.current().version).toBe(version);
    await writeFile(path, minimal.replaceAll('a/b', 'a/c'));
    expect(await source.reload()).toBe(true);
    expect([...source.current().models.keys()]).toEqual(['a/c']);
    expect(source.current().version).toBeGreaterThan(version);
    expect(changes).toBe(1);
    await source.stop();
    await rm(directory, { recursive: true });
  });
});

it('reports the active catalogue, and the issues of a rejected change with their lines until it is fixed', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'catalogue-'));
  const path = join(folder, 'models.yaml');
  await writeFile(path, minimal);
  const catalogue = createFileCatalogue({
    path,
    variables: options.variables,
    secrets,
    clock: systemClock,
    log: createSilentLogger(),
  });
  await catalogue.start();
  const before = catalogue.status();
  expect(before).toMatchObject({ file: 'models.yaml', rejected: undefined });
  expect(before.sha256).toMatch(/^[0-9a-f]{64}$/);

  await writeFile(path, minimal.replace('context_window: 100', 'context_window: none'));
  expect(await catalogue.reload()).toBe(false);
  const { rejected, ...active } = catalogue.status();
  expect(active).toMatchObject({ sha256: before.sha256, loadedAt: before.loadedAt });
  expect(rejected?.issues).toEqual([{ message: expect.stringContaining('context_window'), line: 9 }]);

  await rm(path);
  await catalogue.reload();
  expect(catalogue.status().rejected?.issues).toEqual([
    { message: 'The file cannot be read.', line: undefined },
  ]);
  await writeFile(path, minimal);
  await catalogue.reload();
  expect(catalogue.status().rejected).toBeUndefined();
  await catalogue.stop();
  await rm(folder, { recursive: true });
});

it('reads secret headers from variables and files', () => {
  const headers =
    '    headers: { X-Plain: text, X-Env: { env: TOKEN }, X-File: { file: /run/secrets/token } }';
  const text = minimal.replace('    api_key_env: KEY', `    api_key_env: KEY\n${headers}`);
  const read = (token: string | undefined) =>
    parseCatalogue(text, {
      version: 1,
      variables: {},
      secrets: {
        fromEnvironment: (name) => (name === 'KEY' ? 'key' : token),
        fromFile: (file) => (file === '/run/secrets/token' ? 'from-file\n' : undefined),
      },
    });
  expect(read('from-env').models.get('a/b')?.targets[0]?.provider.headers).toEqual({
    'x-plain': 'text',
    'x-env': 'from-env',
    'x-file': 'from-file',
  });
  expect(() => read(undefined)).toThrow(
    /providers\[0\]\.headers\.X-Env \(line \d+\): the variable TOKEN is missing or empty/,
  );
});

it('reloads key files, so that a key can change without a restart', async () => {
  const directory = await mkdtemp(join(tmpdir(), 'gateway-keys-'));
  const path = join(directory, 'models.yaml');
  const keyFile = join(directory, 'key');
  await writeFile(path, minimal.replace('api_key_env: KEY', `api_key_file: ${keyFile}`));
  await writeFile(keyFile, 'old-key\n');
  const catalogue = createFileCatalogue({
    path,
    variables: {},
    secrets: readSecretsFrom({}),
    clock: systemClock,
    log: createSilentLogger(),
    pollMs: 60_000,
  });
  const bearer = (apiKey: string) => ({ kind: 'bearer', apiKey });
  const key = () => catalogue.current().models.get('a/b')?.targets[0]?.provider.credential;
  try {
    await catalogue.start();
    expect([key(), await catalogue.reload()]).toEqual([bearer('old-key'), false]);
    await writeFile(keyFile, 'new-key\n');
    expect([await catalogue.reload(), key()]).toEqual([true, bearer('new-key')]);
    // A mounted secret is missing while it is replaced: the previous key stays active.
    await rm(keyFile);
    expect([await catalogue.reload(), key()]).toEqual([false, bearer('new-key')]);
    await writeFile(keyFile, 'third-key');
    expect([await catalogue.reload(), key()]).toEqual([true, bearer('third-key')]);
  } finally {
    await catalogue.stop();
    await rm(directory, { recursive: true });
  }
});
