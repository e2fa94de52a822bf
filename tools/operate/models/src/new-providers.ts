import { presets, type PresetName } from '@gateway/inference-router';

/** The fields of a provider in models.yaml, without its name. */
export interface ProviderFields {
  readonly preset: PresetName;
  readonly api_key_env: string;
}

/** Providers that `add` can add to models.yaml, by their preset; others need settings that only the operator knows. */
export const newProviders: Readonly<Record<string, ProviderFields>> = {
  anthropic: { preset: 'anthropic', api_key_env: 'ANTHROPIC_API_KEY' },
  cerebras: { preset: 'cerebras', api_key_env: 'CEREBRAS_API_KEY' },
  deepseek: { preset: 'deepseek', api_key_env: 'DEEPSEEK_API_KEY' },
  fireworks: { preset: 'fireworks', api_key_env: 'FIREWORKS_API_KEY' },
  'google-ai-studio': { preset: 'google-ai-studio', api_key_env: 'GEMINI_API_KEY' },
  groq: { preset: 'groq', api_key_env: 'GROQ_API_KEY' },
  mistral: { preset: 'mistral', api_key_env: 'MISTRAL_API_KEY' },
  openai: { preset: 'openai', api_key_env: 'OPENAI_API_KEY' },
  openrouter: { preset: 'openrouter', api_key_env: 'OPENROUTER_API_KEY' },
  together: { preset: 'together', api_key_env: 'TOGETHER_API_KEY' },
  xai: { preset: 'xai', api_key_env: 'XAI_API_KEY' },
};

/** The address of a provider that is added. */
export function addressOf({ preset }: ProviderFields): string {
  return presets[preset].baseUrl;
}
