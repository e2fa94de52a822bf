const ACRONYMS: Readonly<Record<string, string>> = {
  id: 'ID',
  api: 'API',
  url: 'URL',
  json: 'JSON',
  ms: 'in milliseconds',
};

const PRESETS: Readonly<Record<string, string>> = {
  openai: 'OpenAI',
  'google-ai-studio': 'Google AI Studio (Gemini)',
  vertex: 'Google Vertex AI (Gemini)',
  'vertex-anthropic': 'Google Vertex AI (Claude)',
  bedrock: 'Amazon Bedrock',
  'bedrock-anthropic': 'Amazon Bedrock (Claude)',
  'azure-openai': 'Azure OpenAI',
  'azure-openai-dated': 'Azure OpenAI, with a dated API',
  deepseek: 'DeepSeek',
  mistral: 'Mistral AI',
  openrouter: 'OpenRouter',
  together: 'Together AI',
  xai: 'xAI',
};

/** The name of a preset as its vendor writes it. */
export function presetName(preset: string): string {
  return PRESETS[preset] ?? capitalized(preset);
}

/** "API key secret" of `api_key_secret`, "Input" of `prices.input`, "Target 1" of `targets[0]`. */
export function wordsOf(path: string): string {
  const [, name = '', position] = /([^.[]*)(?:\[(\d+)])?$/.exec(path) ?? [];
  const words = name.split('_').map((word) => ACRONYMS[word] ?? word);
  const text = capitalized(words.join(' '));
  return position === undefined ? text : `${text.replace(/s$/, '')} ${Number(position) + 1}`;
}

function capitalized(text: string): string {
  return text.charAt(0).toUpperCase() + text.slice(1);
}
