import { asObject } from '../../completion/json';
import type { EmbeddingsCall, EmbeddingsProtocol } from '../dialect';
import { tokenCount } from '../embeddings';
import { readErrorObject } from './classify-error';

/** OpenAI's own limit of a request. */
const MAX_INPUTS = 2_048;

/** Not every server has it. */
function returnsBase64({ options: { vendor } }: EmbeddingsCall): boolean {
  return vendor === 'openai' || vendor === 'azure';
}

/** OpenAI's embeddings, as many servers speak them. */
export const embeddings: EmbeddingsProtocol = {
  path: ({ providerModel, options }) =>
    options.host === 'azure_deployments'
      ? `/deployments/${encodeURIComponent(providerModel)}/embeddings`
      : '/embeddings',
  maxInputs: () => MAX_INPUTS,
  returnsBase64,
  encode: ({ input, dimensions, extra }, call) => ({
    model: call.providerModel,
    input,
    ...(dimensions === undefined ? {} : { dimensions }),
    ...(returnsBase64(call) ? { encoding_format: 'base64' } : {}),
    ...extra,
  }),
  read(response) {
    const error = readErrorObject(response);
    if (error) return { error, embeddings: [], promptTokens: undefined };
    const listed = response['data'];
    const items = Array.isArray(listed) ? listed.map((item) => asObject(item) ?? {}) : [];
    const embeddings: unknown[] = [];
    for (const [position, { index, embedding }] of items.entries())
      embeddings[typeof index === 'number' && index < items.length ? index : position] = embedding;
    const usage = asObject(response['usage']);
    // Some servers report the total only.
    const promptTokens = tokenCount(usage?.['prompt_tokens']) ?? tokenCount(usage?.['total_tokens']);
    return { embeddings, promptTokens };
  },
};
