import { mkdtempSync, readFileSync, writeFileSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { parse, stringify } from 'yaml';
import { modelPrefixOf, otherDialects, type OtherDialect } from './dialects';

const repositoryModels = path.resolve(__dirname, '../../../../models.yaml');

interface Document {
  readonly providers: object[];
  readonly models: object[];
}

const providers: Readonly<Record<OtherDialect, object>> = {
  anthropic: { preset: 'anthropic', api_key_env: 'EMULATED_API_KEY' },
  gemini: { preset: 'google-ai-studio', api_key_env: 'EMULATED_API_KEY' },
  converse: { preset: 'bedrock', region: 'eu-central-1' },
};

/** Capabilities of all models, beyond those of the emulated model. */
const capabilities: Readonly<Record<OtherDialect, readonly string[]>> = {
  anthropic: ['structured_outputs', 'parallel_tool_calls', 'prompt_cache'],
  gemini: ['structured_outputs', 'json_mode'],
  converse: ['structured_outputs', 'prompt_cache'],
};

const models = [
  { name: 'standard', capabilities: ['tools'] },
  { name: 'vision', capabilities: ['tools', 'vision', 'files'] },
  {
    name: 'reasoner',
    capabilities: ['tools', 'vision', 'reasoning'],
    reasoning_efforts: ['low', 'medium', 'high'],
    default_reasoning_effort: 'medium',
  },
];

/** The emulated model with this name, by dialect. */
export function modelsByDialect(name: string): Readonly<Record<string, string>> {
  return {
    openai: `demo/${name}`,
    ...Object.fromEntries(otherDialects.map((dialect) => [dialect, `${modelPrefixOf(dialect)}${name}`])),
  };
}

const PRICES = {
  input: '0.50',
  cached_input: '0.05',
  cache_write: '0.625',
  cache_write_1h: '1.00',
  output: '1.50',
  reasoning: '1.20',
};

function modelsOf(dialect: OtherDialect): object[] {
  return models.map(({ name, capabilities: emulated, ...more }) => ({
    id: `${modelPrefixOf(dialect)}${name}`,
    targets: [
      // Requests to Bedrock depend on the vendor in the model's name.
      {
        provider: `emulated-${dialect}`,
        model: `${dialect === 'converse' ? 'eu.anthropic.' : ''}emu-${name}`,
      },
    ],
    context_window: 131_072,
    max_output_tokens: 16_384,
    capabilities: [...emulated, ...capabilities[dialect]],
    prices: PRICES,
    ...more,
  }));
}

/** Embedding models of each provider, by the end of their id. */
export const embeddingModels = {
  'openai-embed': { provider: 'emulator', model: 'emu-embed', dimensions: [1_536, 512, 256] },
  'openai-embed-fixed': { provider: 'emulator', model: 'emu-embed-fixed', dimensions: [384] },
  'gemini-embed': { provider: 'emulated-gemini', model: 'emu-embed', dimensions: [1_536, 512, 256] },
  'vertex-embed': { provider: 'emulated-vertex', model: 'emu-embed', dimensions: [1_536, 512, 256] },
  'converse-titan': {
    provider: 'emulated-converse',
    model: 'amazon.titan-embed-text-emu',
    dimensions: [1_024, 512, 256],
  },
  'converse-cohere': {
    provider: 'emulated-converse',
    model: 'eu.cohere.embed-emu',
    dimensions: [1_024, 512, 256],
  },
} as const;

/** A model whose provider does not stream JSON. */
export const WHOLE_JSON_MODEL = 'dialect/whole-json';

const groq = {
  name: 'emulated-groq',
  preset: 'groq',
  base_url: '${MODEL_EMULATOR_URL}/groq/v1',
  api_key_env: 'EMULATED_API_KEY',
};

/** Vertex AI without Google's credential. */
const vertex = {
  name: 'emulated-vertex',
  base_url: '${MODEL_EMULATOR_URL}/projects/p/locations/eu',
  dialect: 'gemini',
  host: 'vertex',
};

/**
 * The models of the repository, embedding models, and models of the emulator in each other dialect.
 *
 * @returns the file, and the environment with the keys of its providers.
 */
export function writeModelsOfAllDialects(): { modelsFile: string; env: Readonly<Record<string, string>> } {
  const document = parse(readFileSync(repositoryModels, 'utf8')) as Document;
  const modelsFile = path.join(mkdtempSync(path.join(os.tmpdir(), 'gateway-models-')), 'models.yaml');
  const added = otherDialects.map((dialect) => ({
    name: `emulated-${dialect}`,
    base_url: '${MODEL_EMULATOR_URL}',
    ...providers[dialect],
  }));
  writeFileSync(
    modelsFile,
    stringify({
      providers: [...document.providers, ...added, groq, vertex],
      models: [
        ...document.models,
        ...otherDialects.flatMap(modelsOf),
        {
          ...{ id: WHOLE_JSON_MODEL, targets: [{ provider: groq.name, model: 'emu-standard' }] },
          ...{ context_window: 131_072, max_output_tokens: 16_384 },
          capabilities: ['tools', 'json_mode', 'structured_outputs'],
          prices: { input: '0.50', cached_input: '0.05', output: '1.50' },
        },
        ...Object.entries(embeddingModels).map(([name, { dimensions, ...target }]) => ({
          ...{ id: `dialect/${name}`, kind: 'embedding', targets: [target], dimensions },
          ...{ context_window: 8_192, prices: { input: '0.13' } },
        })),
      ],
    }),
  );
  return {
    modelsFile,
    env: {
      EMULATED_API_KEY: 'sk-emulated',
      AWS_ACCESS_KEY_ID: 'emulated-access-key',
      AWS_SECRET_ACCESS_KEY: 'emulated-secret',
    },
  };
}
