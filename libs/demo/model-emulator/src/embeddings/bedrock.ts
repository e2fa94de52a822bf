import { converse } from '../dialects/converse';
import { invalid } from '../dialects/converse/errors';
import type { ChatRequest } from '../request';
import type { WireFormat, WireRequest } from '../wire-format';
import { embeddingsRequest, knownFields, listOf, readModel, textOf } from './request';

const PATH = /\/model\/([^/]+)\/invoke$/;
const TITAN = /(?:^|[./])amazon\.titan-embed-text/;
const COHERE = /(?:^|[./])cohere\.embed/;
const MAX_TEXTS = 96;
const INPUT_TYPES = ['search_document', 'search_query', 'classification', 'clustering'];

function readRequest({ path, body, ...wire }: WireRequest): ChatRequest {
  const modelName = decodeURIComponent(PATH.exec(path)?.[1] ?? '');
  const read = TITAN.test(modelName)
    ? readTitan(body)
    : COHERE.test(modelName)
      ? readCohere(body)
      : undefined;
  if (!read) throw invalid('modelId', 'The provided model identifier is invalid.');
  return embeddingsRequest({ modelName, ...readModel(modelName, true), ...read }, wire);
}

function readTitan(body: unknown) {
  const fields = knownFields(body, ['inputText', 'dimensions', 'normalize', 'embeddingTypes']);
  if (fields['normalize'] !== undefined && typeof fields['normalize'] !== 'boolean')
    throw invalid('normalize', 'expected type: Boolean');
  return { inputs: [textOf(fields['inputText'], 'inputText')], dimensions: fields['dimensions'] };
}

function readCohere(body: unknown) {
  const fields = knownFields(body, [
    'texts',
    'input_type',
    'truncate',
    'embedding_types',
    'output_dimension',
  ]);
  if (!INPUT_TYPES.includes(String(fields['input_type'])))
    throw invalid('input_type', 'is required, one of the known types');
  if (fields['truncate'] !== undefined && !['NONE', 'START', 'END'].includes(String(fields['truncate'])))
    throw invalid('truncate', 'is none of NONE, START and END');
  if (String(fields['embedding_types']) !== 'float')
    throw invalid('embedding_types', 'the emulator has float only');
  const inputs = listOf(fields['texts'], 'texts', MAX_TEXTS).map((text) => textOf(text, 'texts'));
  return { inputs, dimensions: fields['output_dimension'] };
}

/** Titan and Cohere with Bedrock's InvokeModel, which reports tokens in a header. */
export const bedrockEmbeddings: WireFormat = {
  ...converse,
  handles: (path) => PATH.test(path),
  readRequest,
  headers(requestId, error, completion) {
    const fault = completion?.usageFault;
    const tokens = fault?.kind === 'fixed' ? fault.prompt : completion?.usage.promptTokens;
    const isReported = tokens !== undefined && fault?.kind !== 'none';
    return {
      ...converse.headers(requestId, error),
      ...(isReported ? { 'x-amzn-bedrock-input-token-count': String(tokens) } : {}),
    };
  },
  renderCompletion({ embeddings = [], modelName, usage, id }, fault) {
    if (TITAN.test(modelName)) {
      const tokens = fault?.kind === 'fixed' ? fault.prompt : usage.promptTokens;
      return JSON.stringify({
        embedding: embeddings[0]?.values,
        ...(fault?.kind === 'none' ? {} : { inputTextTokenCount: tokens }),
      });
    }
    const float = embeddings.map(({ values }) => values);
    return JSON.stringify({ id, response_type: 'embeddings_by_type', embeddings: { float } });
  },
};
