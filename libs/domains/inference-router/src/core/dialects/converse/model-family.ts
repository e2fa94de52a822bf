/** The vendors of Bedrock's models, as far as their requests differ. */
export type ModelFamily = 'anthropic' | 'nova' | 'openai' | 'qwen' | 'other' | 'unknown';

/** By the vendor in a model id: `anthropic.claude-…`, `us.amazon.nova-…`, `global.anthropic.…`. */
const vendors: readonly (readonly [RegExp, ModelFamily])[] = [
  [/(?:^|[./])anthropic\./, 'anthropic'],
  [/(?:^|[./])amazon\.nova/, 'nova'],
  [/(?:^|[./])openai\./, 'openai'],
  [/(?:^|[./])qwen\./, 'qwen'],
];

/**
 * The family of a model id, inference profile or ARN. The ARN of an application inference profile, a provisioned or an
 * imported model does not name its vendor: the family is then unknown.
 */
export function familyOf(providerModel: string): ModelFamily {
  for (const [pattern, family] of vendors) if (pattern.test(providerModel)) return family;
  const isOpaque =
    /^arn:/.test(providerModel) && !/(?:foundation-model|:inference-profile)\//.test(providerModel);
  return isOpaque ? 'unknown' : 'other';
}
