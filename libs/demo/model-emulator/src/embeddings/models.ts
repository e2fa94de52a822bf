import { ProviderError } from '../errors';
import type { EmulatedModel } from '../models';

export interface EmbeddingModel {
  readonly id: string;
  /** The maximum length of one input. */
  readonly maxTokens: number;
  /** The lengths of embeddings, the default first. */
  readonly dimensions: readonly number[];
}

/** Bedrock's models have the names of their vendors, which determine the body of a call. */
const EMBEDDING_MODELS: readonly EmbeddingModel[] = [
  { id: 'emu-embed', maxTokens: 8_192, dimensions: [1_536, 512, 256] },
  // Refuses `dimensions`.
  { id: 'emu-embed-fixed', maxTokens: 512, dimensions: [384] },
  { id: 'titan-embed-text-emu', maxTokens: 8_192, dimensions: [1_024, 512, 256] },
  { id: 'embed-emu', maxTokens: 512, dimensions: [1_024, 512, 256] },
];

const byId = new Map(EMBEDDING_MODELS.map((model) => [model.id, model]));

/** @param id without directives and the vendor. */
export function embeddingModel(id: string): EmbeddingModel {
  const model = byId.get(id);
  if (model) return model;
  throw new ProviderError({
    status: 404,
    message: `The model \`${id}\` does not exist or you do not have access to it.`,
    code: 'model_not_found',
  });
}

/** As a model without any ability of chat. */
export function withoutChat({ id, maxTokens }: EmbeddingModel): EmulatedModel {
  return {
    id,
    contextWindow: maxTokens,
    maxOutput: 0,
    tools: false,
    vision: false,
    jsonMode: false,
    showsReasoning: false,
    reasoningTokens: {},
  };
}
