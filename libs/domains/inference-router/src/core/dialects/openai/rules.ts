import type { VendorRules } from '../vendor-rules';

/** The services with this protocol that have rules of their own, as presets name them. */
export type Vendor = 'openai' | 'azure' | 'groq' | 'mistral' | 'openrouter';

/** Servers without rules of their own. */
const common: VendorRules = {
  // OpenAI, "Create chat completion", `tools[].function.name`.
  toolNames: { pattern: /^[a-zA-Z0-9_-]+$/, maxLength: 64 },
  authorNames: undefined,
  callIds: undefined,
  repeatsCallIds: true,
  imagesInResults: true,
  unionsInTools: true,
  allowedTools: false,
  // DeepSeek and Moonshot, of thinking models.
  emptyReasoning: true,
  blankStops: true,
  exclusive: [],
};

/** OpenAI, "Create chat completion": ids of calls have at most 40 characters, tool messages have text parts only, and names of authors neither spaces nor `<|\/>`. */
const openai: VendorRules = {
  ...common,
  authorNames: { pattern: /^[^\s<|\\/>]+$/, maxLength: 64 },
  callIds: { pattern: /^/, maxLength: 40 },
  imagesInResults: false,
  allowedTools: true,
};

const byVendor: Readonly<Record<Vendor, VendorRules>> = {
  openai,
  azure: openai,
  // Groq, "OpenAI compatibility": `messages[].name` is refused.
  groq: { ...common, authorNames: { pattern: /^/, maxLength: 0 } },
  // Mistral, "Function calling": ids are nine letters and digits.
  mistral: { ...common, callIds: { pattern: /^[a-zA-Z0-9]{9}$/, maxLength: 9 }, repeatsCallIds: false },
  openrouter: { ...common, emptyReasoning: false },
};

export function rulesOf(vendor: Vendor | undefined): VendorRules {
  return vendor === undefined ? common : byVendor[vendor];
}
