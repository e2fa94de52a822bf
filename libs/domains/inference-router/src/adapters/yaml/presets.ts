import type { CredentialKind } from '../../core/catalogue/model-catalogue';
import type { TargetOptions } from '../../core/dialects/dialect';
import type { Vendor } from '../../core/dialects/openai/rules';
import type { DialectName } from '../../core/dialects/registry';

/** The settings of a provider that a preset fills in. Each can also be set alone. */
export interface Preset {
  readonly dialect: DialectName;
  readonly credential: CredentialKind;
  /** The header of the API key, for the credential `header`. */
  readonly keyHeader?: string;
  /** Fields of the provider in braces are replaced, and `{vertex_host}` by the host of Vertex AI in the region. */
  readonly baseUrl: string;
  readonly host?: TargetOptions['host'];
  readonly maxTokensParameter?: TargetOptions['maxTokensParameter'];
  readonly refusesStreamOptions?: boolean;
  readonly refusesJsonStreams?: boolean;
  readonly refusesDeveloperRole?: boolean;
  /** Fields that the service refuses, and that are hints. */
  readonly drops?: readonly string[];
  /** The service needs the reasoning of earlier turns, at least in tool loops. */
  readonly forwardReasoningContent?: boolean;
  readonly vendor?: Vendor;
}

const openai = { dialect: 'openai', credential: 'bearer' } as const;
const vertex = { credential: 'google', host: 'vertex' } as const;
const VERTEX_URL = 'https://{vertex_host}/v1/projects/{project}/locations/{region}';

export const presets = {
  openai: {
    ...openai,
    baseUrl: 'https://api.openai.com/v1',
    maxTokensParameter: 'max_completion_tokens',
    vendor: 'openai',
  },
  anthropic: {
    dialect: 'anthropic',
    credential: 'header',
    keyHeader: 'x-api-key',
    baseUrl: 'https://api.anthropic.com',
  },
  'google-ai-studio': {
    dialect: 'gemini',
    credential: 'header',
    keyHeader: 'x-goog-api-key',
    baseUrl: 'https://generativelanguage.googleapis.com',
  },
  vertex: { ...vertex, dialect: 'gemini', baseUrl: VERTEX_URL },
  'vertex-anthropic': { ...vertex, dialect: 'anthropic', baseUrl: VERTEX_URL },
  bedrock: {
    dialect: 'converse',
    credential: 'sigv4',
    baseUrl: 'https://bedrock-runtime.{region}.amazonaws.com',
  },
  'bedrock-anthropic': {
    dialect: 'anthropic',
    credential: 'sigv4',
    host: 'bedrock',
    baseUrl: 'https://bedrock-runtime.{region}.amazonaws.com/anthropic',
  },
  'azure-openai': {
    dialect: 'openai',
    credential: 'header',
    keyHeader: 'api-key',
    baseUrl: 'https://{resource}.openai.azure.com/openai/v1',
    maxTokensParameter: 'max_completion_tokens',
    vendor: 'azure',
  },
  'azure-openai-dated': {
    dialect: 'openai',
    credential: 'header',
    keyHeader: 'api-key',
    host: 'azure_deployments',
    baseUrl: 'https://{resource}.openai.azure.com/openai?api-version={api_version}',
    maxTokensParameter: 'max_completion_tokens',
    vendor: 'azure',
  },
  // Each row follows the service's reference of its chat completions. All of them accept the role "system".
  cerebras: {
    ...openai,
    baseUrl: 'https://api.cerebras.ai/v1',
    maxTokensParameter: 'max_completion_tokens',
    // Reasoning models respond "stream=true with structured outputs is currently not supported".
    refusesJsonStreams: true,
    refusesDeveloperRole: true,
    drops: ['frequency_penalty', 'presence_penalty', 'logit_bias', 'service_tier'],
  },
  deepseek: {
    ...openai,
    baseUrl: 'https://api.deepseek.com/v1',
    refusesDeveloperRole: true,
    forwardReasoningContent: true,
  },
  fireworks: {
    ...openai,
    baseUrl: 'https://api.fireworks.ai/inference/v1',
    refusesDeveloperRole: true,
    forwardReasoningContent: true,
  },
  groq: {
    ...openai,
    baseUrl: 'https://api.groq.com/openai/v1',
    maxTokensParameter: 'max_completion_tokens',
    // "response_format does not support streaming".
    refusesJsonStreams: true,
    refusesDeveloperRole: true,
    drops: ['logit_bias'],
    vendor: 'groq',
  },
  mistral: {
    ...openai,
    baseUrl: 'https://api.mistral.ai/v1',
    refusesStreamOptions: true,
    refusesDeveloperRole: true,
    drops: [
      ...['logit_bias', 'seed', 'service_tier', 'store', 'user', 'safety_identifier', 'verbosity'],
      ...['prompt_cache_key', 'prompt_cache_retention', 'prompt_cache_options', 'modalities'],
    ],
    vendor: 'mistral',
  },
  moonshot: {
    ...openai,
    baseUrl: 'https://api.moonshot.ai/v1',
    refusesDeveloperRole: true,
    forwardReasoningContent: true,
  },
  openrouter: {
    ...openai,
    baseUrl: 'https://openrouter.ai/api/v1',
    forwardReasoningContent: true,
    vendor: 'openrouter',
  },
  together: { ...openai, baseUrl: 'https://api.together.xyz/v1', refusesDeveloperRole: true },
  xai: { ...openai, baseUrl: 'https://api.x.ai/v1', refusesDeveloperRole: true },
} as const satisfies Readonly<Record<string, Preset>>;

/** The hosts of Vertex AI, by region. */
const VERTEX_HOST = '(?:[a-z0-9-]+-)?aiplatform(?:\\.(?:us|eu)\\.rep)?\\.googleapis\\.com';

/** The hosts that a process may send its cloud identity to. */
const identityHosts = {
  google: new RegExp(`^${VERTEX_HOST}$`),
  entra: /^[a-z0-9-]+\.(?:openai|cognitiveservices|services\.ai)\.azure\.com$/,
  sigv4:
    /^(?:bedrock-runtime(?:-fips)?\.[a-z0-9-]+\.amazonaws\.com(?:\.cn)?|vpce-[a-z0-9-]+\.bedrock-runtime\.[a-z0-9-]+\.vpce\.amazonaws\.com)$/,
} as const satisfies Partial<Record<CredentialKind, RegExp>>;

/** Whether the address is one of the cloud whose identity the credential has. */
export function isCloudOf(credential: keyof typeof identityHosts, url: URL): boolean {
  return isPublicOrigin(url) && identityHosts[credential].test(url.hostname);
}

const presetHosts = Object.values(presets).map(({ baseUrl }) => {
  const host = /^https:\/\/([^/?]+)/.exec(baseUrl)?.[1] ?? '';
  const pattern = host
    .replaceAll('.', '\\.')
    .replace('{vertex_host}', VERTEX_HOST)
    .replace(/\{\w+\}/g, '[a-z0-9-]+');
  return new RegExp(`^${pattern}$`);
});

/** Whether a preset has this host, so that it is no address of the operator's network. */
export function isPresetHost(url: URL): boolean {
  return isPublicOrigin(url) && presetHosts.some((host) => host.test(url.hostname));
}

function isPublicOrigin({ protocol, port }: URL): boolean {
  return protocol === 'https:' && port === '';
}

export type PresetName = keyof typeof presets;
export const presetNames = Object.keys(presets) as [PresetName, ...PresetName[]];
