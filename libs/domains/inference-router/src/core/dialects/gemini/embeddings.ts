import { asObject, type JsonObject } from '../../completion/json';
import type { EmbeddingsProtocol, ReadEmbeddings } from '../dialect';
import { renamedExtra, textsOf, tokenCount } from '../embeddings';
import { resourceOf } from './resource';

/** "batchEmbedContents": at most 100 requests. */
const MAX_BATCH = 100;
/** "Text embeddings API" of Vertex AI: one text for Gemini, for others as many as its limit of 20,000 tokens allows. */
const MAX_INSTANCES = 5;

/** `batchEmbedContents` of AI Studio, and `predict` of Vertex AI. */
export const embeddings: EmbeddingsProtocol = {
  path: ({ providerModel, options }) =>
    `${resourceOf({ providerModel, options })}:${options.host === 'vertex' ? 'predict' : 'batchEmbedContents'}`,
  maxInputs: ({ providerModel, options }) => {
    if (options.host !== 'vertex') return MAX_BATCH;
    return providerModel.includes('gemini') ? 1 : MAX_INSTANCES;
  },
  encode({ input, dimensions, extra }, { providerModel, options }) {
    const texts = textsOf(input);
    const length = dimensions === undefined ? {} : { outputDimensionality: dimensions };
    if (options.host === 'vertex') {
      const more = renamedExtra(extra, { task_type: 'task_type', title: 'title' });
      return {
        instances: texts.map((content) => ({ content, ...more })),
        // Else a text that is too long is cut without an error.
        parameters: { autoTruncate: false, ...length },
      };
    }
    const model = providerModel.includes('/') ? providerModel : `models/${providerModel}`;
    const more = renamedExtra(extra, { task_type: 'taskType', title: 'title' });
    return {
      requests: texts.map((text) => ({ model, content: { parts: [{ text }] }, ...length, ...more })),
    };
  },
  read: (response) =>
    response['predictions'] === undefined ? readBatch(response) : readPredictions(response),
};

/** AI Studio reports no tokens for older models. */
function readBatch(response: JsonObject): ReadEmbeddings {
  return {
    embeddings: objectsIn(response['embeddings']).map(({ values }) => values),
    promptTokens: tokenCount(asObject(response['usageMetadata'])?.['promptTokenCount']),
  };
}

function readPredictions(response: JsonObject): ReadEmbeddings {
  const read = objectsIn(response['predictions']).map((each) => asObject(each['embeddings']) ?? {});
  const counts = read.map(({ statistics }) => tokenCount(asObject(statistics)?.['token_count']));
  const isReported = counts.every((count) => count !== undefined);
  return {
    embeddings: read.map(({ values }) => values),
    promptTokens: isReported ? counts.reduce((sum, count) => sum + count, 0) : undefined,
  };
}

function objectsIn(list: unknown): readonly JsonObject[] {
  return Array.isArray(list) ? list.map((item) => asObject(item) ?? {}) : [];
}
