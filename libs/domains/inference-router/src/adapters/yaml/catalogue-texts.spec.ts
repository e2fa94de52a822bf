import { createCatalogueTexts } from './catalogue-texts';
import { withStoredSecrets } from './stored-secrets';

const texts = createCatalogueTexts({ variables: {} });

const MODEL = `
models:
  - id: acme/m-1
    targets: [{ provider: acme, model: m-1 }]
    context_window: 100
    max_output_tokens: 10
    prices: { input: "0.15", output: "0.6" }
`;
const catalogueWith = (...fields: readonly string[]) =>
  `providers:\n  - name: acme\n    base_url: https://acme.example/v1\n${fields.map((field) => `    ${field}\n`).join('')}${MODEL}`;

const issuesOf = (text: string, secrets: Readonly<Record<string, string>> = {}) => {
  const checked = texts.check(text, new Map(Object.entries(secrets)));
  return checked.ok ? [] : checked.issues.map(({ message }) => message);
};

describe('a catalogue in the database', () => {
  it('reads keys of providers from stored secrets', () => {
    const text = catalogueWith('api_key_secret: acme-key', 'headers: { X-Team: { secret: team } }');
    const checked = texts.check(
      text,
      new Map([
        ['acme-key', 'sk-acme'],
        ['team', 'blue'],
      ]),
    );
    expect(checked.ok && checked.catalogue.providers.get('acme')).toMatchObject({
      credential: { kind: 'bearer', apiKey: 'sk-acme' },
      headers: { 'x-team': 'blue' },
    });
    expect(issuesOf(text, { team: 'blue' })).toEqual([
      'providers[0].api_key_secret (line 4): the stored secret acme-key is missing or empty',
    ]);
  });

  it.each([
    ['api_key_env: GATEWAY_SECRETS_KEY', 'environment variables'],
    ['api_key_file: /run/secrets/database-url', 'files'],
    ['headers: { X-Leak: { env: DATABASE_URL } }', 'environment variables'],
    ['headers: { X-Leak: { file: /etc/passwd } }', 'files'],
  ])('never reads the environment or files of the router: %s', (field, what) => {
    expect(issuesOf(catalogueWith(field))).toEqual([
      expect.stringContaining(`${what} cannot be used by a catalogue in the database: name a stored secret`),
    ]);
  });

  it('never lets the credential "google" read a file of the router', () => {
    const fields = ['credential: google', 'api_key_file: /run/secrets/database-url'];
    expect(issuesOf(catalogueWith(...fields))).toEqual([
      expect.stringContaining('files cannot be used'),
      expect.stringContaining('is sent to its cloud only'),
    ]);
  });

  it.each([
    ['google', 'https://aiplatform.googleapis.com/v1', true],
    ['google', 'https://europe-west4-aiplatform.googleapis.com/v1', true],
    ['google', 'https://aiplatform.eu.rep.googleapis.com/v1', true],
    ['entra', 'https://acme.openai.azure.com/openai/v1', true],
    ['sigv4', 'https://bedrock-runtime.us-east-1.amazonaws.com', true],
    ['google', 'https://aiplatform.googleapis.com.evil.example', false],
    ['google', 'https://evil.example/aiplatform.googleapis.com', false],
    ['google', 'http://aiplatform.googleapis.com', false],
    ['google', 'https://aiplatform.googleapis.com:8443', false],
    ['google', 'https://storage.googleapis.com/evil', false],
    ['entra', 'https://evil.azurewebsites.net', false],
    ['sigv4', 'https://evil.s3.amazonaws.com', false],
    ['sigv4', 'https://evil.execute-api.us-east-1.amazonaws.com', false],
    ['sigv4', 'http://169.254.169.254', false],
  ])('sends the identity "%s" to its cloud only: %s (%s)', (credential, url, isAllowed) => {
    const text = catalogueWith(`credential: ${credential}`, 'region: us-east-1').replace(
      /base_url: .*/,
      `base_url: ${url}`,
    );
    expect(text).toContain(`base_url: ${url}`);
    const issue = expect.stringContaining(`the credential "${credential}" is sent to its cloud only`);
    expect(issuesOf(text)).toEqual(isAllowed ? [] : [issue]);
    const allowing = createCatalogueTexts({ variables: {}, identityHosts: [new URL(url).host] });
    expect(allowing.check(text, new Map()).ok).toBe(isAllowed || url.startsWith('https:'));
  });

  it('has the messages and lines of the models file', () => {
    expect(issuesOf(catalogueWith().replace('"0.15"', '0.15'))).toEqual([
      'models[0].prices.input (line 10): must be US dollars per million tokens as a quoted decimal, such as "0.15"',
    ]);
  });
});

describe('the comparison of two texts', () => {
  it('lists changed fields by provider and model, added and removed ones', () => {
    const before = catalogueWith('api_key_secret: old');
    const after = catalogueWith('api_key_secret: new')
      .replace('"0.15"', '"0.20"')
      .concat(
        `  - { id: acme/m-2, targets: [{ provider: acme, model: m-2 }], context_window: 1, max_output_tokens: 1, prices: { input: "1", output: "1" } }\n`,
      );
    expect(texts.compare(before, after)).toEqual([
      {
        kind: 'provider',
        name: 'acme',
        change: 'changed',
        fields: [{ field: 'api_key_secret', before: 'old', after: 'new' }],
      },
      {
        kind: 'model',
        name: 'acme/m-1',
        change: 'changed',
        fields: [{ field: 'prices.input', before: '0.15', after: '0.20' }],
      },
      expect.objectContaining({ kind: 'model', name: 'acme/m-2', change: 'added' }),
    ]);
    expect(texts.compare(after, before).at(-1)).toMatchObject({ name: 'acme/m-2', change: 'removed' });
    expect(texts.compare(before, before)).toEqual([]);
  });

  it('finds the stored secrets of a text', () => {
    const text = catalogueWith('api_key_secret: one', 'headers: { A: { secret: two }, B: plain }');
    expect([...texts.secretNames(text)]).toEqual(['one', 'two']);
  });
});

describe('the import of a models file', () => {
  const secrets = {
    fromEnvironment: (name: string) => (name === 'ACME_KEY' ? 'sk-acme' : undefined),
    fromFile: (path: string) => (path === '/run/secrets/team' ? 'blue' : undefined),
  };

  it('names its keys as stored secrets, and keeps everything else', () => {
    const file = catalogueWith(
      'api_key_env: ACME_KEY # of the team',
      'headers: { X-Team: { file: /run/secrets/team } }',
    );
    const imported = withStoredSecrets(file, secrets);
    expect([...imported.secrets]).toEqual([
      ['ACME_KEY', 'sk-acme'],
      ['team', 'blue'],
    ]);
    expect(imported.text).toContain('api_key_secret: ACME_KEY # of the team');
    expect(imported.text).toContain('headers: { X-Team: { secret: team } }');
    expect(issuesOf(imported.text, Object.fromEntries(imported.secrets))).toEqual([]);
    expect(texts.compare(file, imported.text).map(({ name }) => name)).toEqual(['acme']);
  });

  it('gives different keys different names, which YAML reads as texts', () => {
    const file = catalogueWith(
      'api_key_file: /one/2026',
      'headers: { A: { file: /two/2026 }, B: { file: "/one/2026" } }',
    );
    const fromFile = (path: string) => (path.startsWith('/one') ? 'first' : 'second');
    const imported = withStoredSecrets(file, { fromEnvironment: () => undefined, fromFile });
    expect(Object.fromEntries(imported.secrets)).toEqual({ 2026: 'first', '2026-2': 'second' });
    const checked = texts.check(imported.text, imported.secrets);
    expect(checked.ok && checked.catalogue.providers.get('acme')).toMatchObject({
      credential: { apiKey: 'first' },
      headers: { a: 'second', b: 'first' },
    });
  });

  it('fails when a key is missing', () => {
    expect(() => withStoredSecrets(catalogueWith('api_key_env: OTHER'), secrets)).toThrow(
      'providers[0].api_key_env: the variable OTHER is missing or empty',
    );
  });

  it('leaves a file without keys as it is', () => {
    const file = `# A comment.\n${catalogueWith()}`;
    expect(withStoredSecrets(file, secrets)).toEqual({ text: file, secrets: new Map() });
  });
});
