import { gemini } from '../dialects/gemini';
import { badRequest } from '../errors';
import type { ChatRequest } from '../request';
import type { WireFormat, WireRequest } from '../wire-format';
import { embeddingsRequest, knownFields, listOf, readModel, textOf } from './request';

const BATCH = /^\/v1(?:\/v1)?(?:beta|alpha)?\/models\/([^/]+):batchEmbedContents$/;
const PREDICT = /^\/v1(?:beta1)?\/projects\/[^:]+\/models\/([^/]+):predict$/;
const MAX_BATCH = 100;
const MAX_INSTANCES = 250;
const TASKS = [
  ...['RETRIEVAL_QUERY', 'RETRIEVAL_DOCUMENT', 'SEMANTIC_SIMILARITY', 'CLASSIFICATION', 'CLUSTERING'],
  ...['FACT_VERIFICATION', 'CODE_RETRIEVAL_QUERY'],
];

/** `BatchEmbedContentsRequest` of AI Studio. */
function readBatch({ path, body, ...wire }: WireRequest): ChatRequest {
  const modelName = decodeURIComponent(BATCH.exec(path)?.[1] ?? '');
  const { requests } = knownFields(body, ['requests']);
  const read = listOf(requests, 'requests', MAX_BATCH).map((each) => {
    const fields = knownFields(each, ['model', 'content', 'taskType', 'title', 'outputDimensionality']);
    if (fields['model'] !== `models/${modelName}`)
      throw badRequest('The model of a request differs from the one in the path.');
    checkTask(fields['taskType']);
    const { parts } = knownFields(fields['content'], ['parts', 'role']);
    const [part] = listOf(parts, 'parts', 1);
    return {
      text: textOf(knownFields(part, ['text'])['text'], 'text'),
      dimensions: fields['outputDimensionality'],
    };
  });
  const [first] = read;
  if (read.some(({ dimensions }) => dimensions !== first?.dimensions))
    throw badRequest('The emulator has one output_dimensionality per batch.');
  const inputs = read.map(({ text }) => text);
  const { dimensions } = first ?? {};
  return embeddingsRequest({ modelName, ...readModel(modelName), inputs, dimensions }, wire);
}

/** `predict` of Vertex AI. */
function readPredict({ path, body, ...wire }: WireRequest): ChatRequest {
  const modelName = decodeURIComponent(PREDICT.exec(path)?.[1] ?? '');
  const { instances, parameters = {} } = knownFields(body, ['instances', 'parameters']);
  const { outputDimensionality, autoTruncate } = knownFields(parameters, [
    'autoTruncate',
    'outputDimensionality',
  ]);
  if (autoTruncate !== false) throw badRequest('The emulator does not truncate: autoTruncate must be false.');
  const inputs = listOf(instances, 'instances', MAX_INSTANCES).map((each) => {
    const fields = knownFields(each, ['content', 'task_type', 'title']);
    checkTask(fields['task_type']);
    return textOf(fields['content'], 'content');
  });
  return embeddingsRequest(
    { modelName, ...readModel(modelName), inputs, dimensions: outputDimensionality },
    wire,
  );
}

function checkTask(task: unknown): void {
  if (task !== undefined && !TASKS.includes(String(task)))
    throw badRequest(`Invalid value at 'task_type': ${String(task)}`);
}

/** `batchEmbedContents` of AI Studio, which reports no usage. */
export const geminiEmbeddings: WireFormat = {
  ...gemini,
  handles: (path) => BATCH.test(path),
  readRequest: readBatch,
  renderCompletion: ({ embeddings = [] }) =>
    JSON.stringify({ embeddings: embeddings.map(({ values }) => ({ values })) }),
};

export const vertexEmbeddings: WireFormat = {
  ...gemini,
  handles: (path) => PREDICT.test(path),
  readRequest: readPredict,
  renderCompletion: ({ embeddings = [] }, fault) =>
    JSON.stringify({
      predictions: embeddings.map(({ values, tokens }) => {
        const statistics = { truncated: false, token_count: fault?.kind === 'fixed' ? fault.prompt : tokens };
        return { embeddings: { values, ...(fault?.kind === 'none' ? {} : { statistics }) } };
      }),
    }),
};
