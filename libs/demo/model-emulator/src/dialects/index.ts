import { embeddingFormats } from '../embeddings';
import type { WireFormat } from '../wire-format';
import { anthropic } from './anthropic';
import { converse } from './converse';
import { gemini } from './gemini';
import { openai } from './openai';

export const FORMATS: readonly WireFormat[] = [openai, anthropic, converse, gemini, ...embeddingFormats];
