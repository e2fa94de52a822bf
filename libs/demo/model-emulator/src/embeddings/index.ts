import type { WireFormat } from '../wire-format';
import { bedrockEmbeddings } from './bedrock';
import { geminiEmbeddings, vertexEmbeddings } from './gemini';
import { openaiEmbeddings } from './openai';

/** The embeddings of each provider, in its own form. */
export const embeddingFormats: readonly WireFormat[] = [
  openaiEmbeddings,
  geminiEmbeddings,
  vertexEmbeddings,
  bedrockEmbeddings,
];
