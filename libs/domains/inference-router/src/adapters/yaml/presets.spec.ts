import { readFileSync } from 'node:fs';
import path from 'node:path';
import { dialects } from '../../core/dialects/registry';
import { requestHead } from '../undici/request-head';
import { CatalogueError, parseCatalogue } from './parse-catalogue';
import { presetNames, presets, type PresetName } from './presets';

const secrets = {
  fromEnvironment: (name: string) => (name === 'KEY' ? 'sk-test' : undefined),
  fromFile: () => undefined,
};
const KEY = 'api_key_env: KEY';

const documentWith = (fields: readonly string[]) => `providers:
  - name: acme
${fields.map((field) => `    ${field}\n`).join('')}models:
  - id: acme/m-1
    targets: [{ provider: acme, model: m-1 }]
    context_window: 1000
    max_output_tokens: 100
    prices: { input: '1', output: '1' }
`;

function targetOf(fields: readonly string[]) {
  const { models } = parseCatalogue(documentWith(fields), { version: 1, variables: {}, secrets });
  const [target] = models.get('acme/m-1')!.targets;
  if (!target) throw new Error('the model has no target');
  return target;
}

function callOf(fields: readonly string[], stream = false) {
  const target = targetOf(fields);
  const { provider, options } = target;
  const head = requestHead(target);
  const callPath = dialects[provider.dialect].path({ providerModel: target.providerModel, stream, options });
  const {
    'content-type': _,
    accept,
    'accept-encoding': __,
    'user-agent': ___,
    ...headers
  } = head.headers.json;
  return { url: head.origin + head.pathOf(callPath), headers, credential: provider.credential.kind, accept };
}

const bearer = { authorization: 'Bearer sk-test' };
const VERTEX = 'https://europe-west4-aiplatform.googleapis.com/v1/projects/my-project/locations/europe-west4';

interface Rendered {
  readonly fields?: readonly string[];
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  /** Where it differs. */
  readonly streamUrl?: string;
  readonly credential?: string;
}

const rendered: Readonly<Record<PresetName, Rendered>> = {
  openai: { url: 'https://api.openai.com/v1/chat/completions', headers: bearer },
  anthropic: {
    url: 'https://api.anthropic.com/v1/messages',
    headers: { 'x-api-key': 'sk-test', 'anthropic-version': '2023-06-01' },
    credential: 'header',
  },
  'google-ai-studio': {
    url: 'https://generativelanguage.googleapis.com/v1beta/models/m-1:generateContent',
    streamUrl: 'https://generativelanguage.googleapis.com/v1beta/models/m-1:streamGenerateContent?alt=sse',
    headers: { 'x-goog-api-key': 'sk-test' },
    credential: 'header',
  },
  vertex: {
    fields: ['region: europe-west4', 'project: my-project'],
    url: `${VERTEX}/publishers/google/models/m-1:generateContent`,
    streamUrl: `${VERTEX}/publishers/google/models/m-1:streamGenerateContent?alt=sse`,
    headers: {},
    credential: 'google',
  },
  'vertex-anthropic': {
    fields: ['region: europe-west4', 'project: my-project'],
    url: `${VERTEX}/publishers/anthropic/models/m-1:rawPredict`,
    streamUrl: `${VERTEX}/publishers/anthropic/models/m-1:streamRawPredict`,
    headers: {},
    credential: 'google',
  },
  bedrock: {
    fields: ['region: eu-central-1'],
    url: 'https://bedrock-runtime.eu-central-1.amazonaws.com/model/m-1/converse',
    streamUrl: 'https://bedrock-runtime.eu-central-1.amazonaws.com/model/m-1/converse-stream',
    headers: {},
    credential: 'sigv4',
  },
  'bedrock-anthropic': {
    fields: ['region: eu-central-1'],
    url: 'https://bedrock-runtime.eu-central-1.amazonaws.com/anthropic/v1/messages',
    headers: {},
    credential: 'sigv4',
  },
  'azure-openai': {
    fields: [KEY, 'resource: my-resource'],
    url: 'https://my-resource.openai.azure.com/openai/v1/chat/completions',
    headers: { 'api-key': 'sk-test' },
    credential: 'header',
  },
  'azure-openai-dated': {
    fields: [KEY, 'resource: my-resource', 'api_version: 2024-10-21'],
    url: 'https://my-resource.openai.azure.com/openai/deployments/m-1/chat/completions?api-version=2024-10-21',
    headers: { 'api-key': 'sk-test' },
    credential: 'header',
  },
  cerebras: { url: 'https://api.cerebras.ai/v1/chat/completions', headers: bearer },
  deepseek: { url: 'https://api.deepseek.com/v1/chat/completions', headers: bearer },
  fireworks: { url: 'https://api.fireworks.ai/inference/v1/chat/completions', headers: bearer },
  groq: { url: 'https://api.groq.com/openai/v1/chat/completions', headers: bearer },
  mistral: { url: 'https://api.mistral.ai/v1/chat/completions', headers: bearer },
  moonshot: { url: 'https://api.moonshot.ai/v1/chat/completions', headers: bearer },
  openrouter: { url: 'https://openrouter.ai/api/v1/chat/completions', headers: bearer },
  together: { url: 'https://api.together.xyz/v1/chat/completions', headers: bearer },
  xai: { url: 'https://api.x.ai/v1/chat/completions', headers: bearer },
};

it.each(presetNames)('the preset "%s" fills in address, path and headers', (name) => {
  const { fields = [KEY], url, streamUrl = url, headers, credential = 'bearer' } = rendered[name];
  const written = [`preset: ${name}`, ...fields];
  expect(callOf(written)).toMatchObject({ url, credential });
  expect(callOf(written).headers).toEqual(headers);
  expect(callOf(written, true).url).toBe(streamUrl);
});

/** The row of a preset in the second table of the page. */
function documentedRow(name: string): readonly string[] | undefined {
  const page = readFileSync(
    path.resolve(__dirname, '../../../../../../docs/reference/models-yaml.md'),
    'utf8',
  );
  const section = page.split('## Presets')[1]?.split('\n## ')[0] ?? '';
  const rows = section
    .split('\n')
    .map((line) => line.split('|').map((cell) => cell.trim().replaceAll('`', '')));
  return rows.findLast((cells) => cells[1] === name)?.slice(2, -1);
}

const ofOpenAi = presetNames.filter((name) => presets[name].dialect === 'openai');

it.each(ofOpenAi)('models-yaml.md says what the preset "%s" needs and refuses', (name) => {
  const { options } = targetOf([`preset: ${name}`, ...(rendered[name].fields ?? [KEY])]);
  expect(documentedRow(name)).toEqual([
    options.maxTokensParameter,
    options.developerAsSystem ? 'system' : 'developer',
    String(options.refusesStreamOptions !== true),
    String(options.refusesJsonStreams !== true),
    String(options.forwardReasoningContent),
    options.drops.join(', '),
  ]);
});

it('what a preset sets can be set without one, and against it', () => {
  const { options } = targetOf([
    KEY,
    'base_url: https://a.example/v1',
    'stream_options: false',
    'json_streams: false',
  ]);
  expect(options).toMatchObject({
    ...{ refusesStreamOptions: true, refusesJsonStreams: true, developerAsSystem: false },
  });
  expect(targetOf(['preset: groq', KEY, 'json_streams: true']).options.refusesJsonStreams).toBe(false);
  expect(
    targetOf([KEY, 'preset: mistral', 'stream_options: true', 'developer_role: developer']).options,
  ).toMatchObject({ refusesStreamOptions: false, developerAsSystem: false });
});

it.each([
  ['openai', 'developer', { include_usage: true }],
  ['deepseek', 'system', { include_usage: true }],
  // It refuses them with 422, and reports usage without them.
  ['mistral', 'system', undefined],
])('a stream of the preset "%s" has instructions of the role "%s" and stream_options %j', async (...row) => {
  const [name, role, streamOptions] = row;
  const target = targetOf([`preset: ${name}`, KEY]);
  const call = { providerModel: 'm-1', options: target.options, stream: true, maxOutputTokens: 1, n: 1 };
  const signatures = { signer: 'acme', ownsUntagged: true };
  const encoded = await dialects.openai.encodeRequest(
    Buffer.from('{"messages":[{"role":"developer","content":"A"}]}'),
    { ...call, ...signatures, exactSeed: undefined },
    async () => {},
  );
  const { stream, stream_options: sent, messages } = JSON.parse(Buffer.from(encoded).toString());
  expect({ stream, sent, messages }).toEqual({
    stream: true,
    sent: streamOptions,
    messages: [{ role, content: 'A' }],
  });
});

describe('settings with a preset', () => {
  it.each([
    ['https://proxy.example.com/anthropic', 'https://proxy.example.com/anthropic/v1/messages'],
    ['https://proxy.example.com/anthropic/v1/', 'https://proxy.example.com/anthropic/v1/messages'],
    ['https://proxy.example.com/v1?tenant=a', 'https://proxy.example.com/v1/messages?tenant=a'],
  ])('replace the address, with or without the version: %s', (baseUrl, url) => {
    expect(callOf(['preset: anthropic', KEY, `base_url: ${baseUrl}`]).url).toBe(url);
  });

  it.each([
    ['global', 'https://aiplatform.googleapis.com'],
    ['eu', 'https://aiplatform.eu.rep.googleapis.com'],
  ])('of Vertex AI name its location: %s', (region, origin) => {
    expect(callOf(['preset: vertex', `region: ${region}`, 'project: p']).url).toBe(
      `${origin}/v1/projects/p/locations/${region}/publishers/google/models/m-1:generateContent`,
    );
  });

  it('replace credential and headers', () => {
    const fields = ['preset: azure-openai', 'resource: r', 'credential: entra'];
    expect(callOf(fields)).toMatchObject({ credential: 'entra', headers: {} });
    const versioned = ['preset: anthropic', KEY, 'headers: { Anthropic-Version: 2026-10-21 }'];
    expect(callOf(versioned).headers).toMatchObject({ 'anthropic-version': '2026-10-21' });
    expect(callOf([KEY, 'base_url: https://a.example/v1', 'api_key_header: X-Key']).headers).toEqual({
      'x-key': 'sk-test',
    });
  });

  it.each([
    [['preset: anthropic'], 'api_key_env, api_key_file or api_key_secret is required'],
    [['preset: bedrock'], 'providers[0].region (line 2): is required'],
    [['preset: vertex', 'region: europe-west4'], 'providers[0].project (line 2): is required'],
    [
      ['preset: vertex', 'region: r', 'project: p', KEY],
      'api_key_env (line 6): is not used by the credential "google"',
    ],
    [['base_url: https://a.example/v1', 'credential: header', KEY], 'api_key_header (line 2): is required'],
    [['preset: groq', KEY, 'host: vertex'], 'host (line 5): "vertex" does not serve the dialect "openai"'],
    [[KEY], 'providers[0].base_url (line 2): is required without a preset'],
  ])('are checked: %s', (fields, issue) => {
    expect(() => callOf(fields)).toThrow(CatalogueError);
    expect(() => callOf(fields)).toThrow(issue);
  });
});

it('a model that can write to the cache of a preset needs a price for it', () => {
  const text = documentWith(['preset: anthropic', KEY]).replace(
    'context_window',
    'capabilities: [prompt_cache]\n    context_window',
  );
  const parse = (yaml: string) => parseCatalogue(yaml, { version: 1, variables: {}, secrets });
  expect(() => parse(text)).toThrow(
    /models\[0\]\.prices\.cache_write \(line \d+\): is required: model "acme\/m-1" has prompt_cache/,
  );
  expect(() =>
    parse(text.replace("input: '1'", "input: '1', cache_write: '1.25', cache_write_1h: '2'")),
  ).not.toThrow();
});
