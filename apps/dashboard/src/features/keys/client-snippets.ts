import type { ApiType } from '@gateway/base';
import { shell, type Snippet, type SnippetOptions } from './snippets';

interface ClientSnippetOptions extends Omit<SnippetOptions, 'request'> {
  /** The APIs that the deployment serves. */
  readonly apiTypes: readonly ApiType[];
  readonly embeddingModel: string | undefined;
}

/** The settings of coding agents, and code for the SDKs of other APIs, as far as the deployment serves their API. */
export function clientSnippets(options: ClientSnippetOptions): readonly Snippet[] {
  const { apiTypes, embeddingModel } = options;
  return [
    { name: 'OpenCode', text: openCode(options) },
    ...(apiTypes.includes('responses') ? [{ name: 'Codex', text: codex(options) }] : []),
    ...(apiTypes.includes('messages')
      ? [
          { name: 'Claude Code', text: claudeCode(options) },
          { name: 'Anthropic SDK', text: anthropicSdk(options) },
        ]
      : []),
    ...(apiTypes.includes('embeddings') && embeddingModel !== undefined
      ? [{ name: 'Embeddings', text: embeddings({ ...options, model: embeddingModel }) }]
      : []),
  ];
}

type Options = Pick<SnippetOptions, 'baseUrl' | 'apiKey' | 'model'>;

function openCode({ baseUrl, apiKey, model }: Options): string {
  const gateway = {
    npm: '@ai-sdk/openai-compatible',
    name: 'Inference Gateway',
    options: { baseURL: baseUrl, apiKey },
    models: { [model]: {} },
  };
  const config = {
    $schema: 'https://opencode.ai/config.json',
    provider: { gateway },
    model: `gateway/${model}`,
  };
  return `// opencode.json\n${JSON.stringify(config, null, 2)}`;
}

function codex({ baseUrl, apiKey, model }: Options): string {
  return `# ~/.codex/config.toml
model = ${JSON.stringify(model)}
model_provider = "gateway"
web_search = "disabled"

[model_providers.gateway]
name = "Inference Gateway"
base_url = ${JSON.stringify(baseUrl)}
env_key = "GATEWAY_API_KEY"
wire_api = "responses"

# In the shell:
# export GATEWAY_API_KEY=${shell(apiKey)}`;
}

function claudeCode({ baseUrl, apiKey, model }: Options): string {
  return [
    `export ANTHROPIC_BASE_URL=${shell(withoutVersion(baseUrl))}`,
    `export ANTHROPIC_AUTH_TOKEN=${shell(apiKey)}`,
    `export ANTHROPIC_MODEL=${shell(model)}`,
    `export ANTHROPIC_DEFAULT_HAIKU_MODEL=${shell(model)}`,
    'claude',
  ].join('\n');
}

function anthropicSdk({ baseUrl, apiKey, model }: Options): string {
  return `import Anthropic from '@anthropic-ai/sdk';

const client = new Anthropic({
  baseURL: ${JSON.stringify(withoutVersion(baseUrl))},
  authToken: ${JSON.stringify(apiKey)},
  apiKey: null,
});
const message = await client.messages.create({
  model: ${JSON.stringify(model)},
  max_tokens: 1000,
  messages: [{ role: 'user', content: 'Hello!' }],
});
console.log(message.content);`;
}

function embeddings({ baseUrl, apiKey, model }: Options): string {
  return `import OpenAI from 'openai';

const client = new OpenAI({
  baseURL: ${JSON.stringify(baseUrl)},
  apiKey: ${JSON.stringify(apiKey)},
});
const { data } = await client.embeddings.create({ model: ${JSON.stringify(model)}, input: ['Hello!'] });
console.log(data[0].embedding.length);`;
}

/** Anthropic's clients add `/v1` themselves. */
function withoutVersion(baseUrl: string): string {
  return baseUrl.replace(/\/v1\/?$/, '');
}
