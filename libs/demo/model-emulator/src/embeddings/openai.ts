import { openai } from '../dialects/openai';
import { badRequest } from '../errors';
import type { ChatRequest } from '../request';
import type { WireFormat, WireRequest } from '../wire-format';
import { embeddingsRequest, knownFields, listOf, readModel, textOf } from './request';

const PATH = /^\/(?:(?:openai|mistral)\/)?v1\/embeddings$/;
/** Azure's dated API. */
const DEPLOYMENT_PATH = /^\/openai\/deployments\/[^/]+\/embeddings$/;
const FIELDS = ['model', 'input', 'dimensions', 'encoding_format', 'user'];
const MAX_INPUTS = 2_048;

function readRequest({ body, ...wire }: WireRequest): ChatRequest {
  const fields = knownFields(body, FIELDS);
  const modelName = textOf(fields['model'], 'model');
  const { model, suffixes } = readModel(modelName);
  const { encoding_format: encoding = 'float', dimensions } = fields;
  if (encoding !== 'float' && encoding !== 'base64')
    throw badRequest("Invalid value for 'encoding_format'.", 'encoding_format', 'invalid_value');
  if (dimensions !== undefined && model.dimensions.length === 1)
    throw badRequest('This model does not support specifying dimensions.', 'dimensions');
  const inputs = readInput(fields['input']);
  return embeddingsRequest({ modelName, model, suffixes, inputs, dimensions, encoding }, wire);
}

function readInput(input: unknown): readonly (string | readonly number[])[] {
  if (typeof input === 'string') return [input];
  if (isTokens(input)) return [input];
  const items = listOf(input, 'input', MAX_INPUTS);
  const isOfOneKind = items.every((item) => typeof item === 'string') || items.every(isTokens);
  if (!isOfOneKind) throw badRequest("'$.input' is invalid.", 'input', 'invalid_type');
  return items as readonly (string | readonly number[])[];
}

function isTokens(value: unknown): value is readonly number[] {
  return (
    Array.isArray(value) && value.length > 0 && value.every((item) => Number.isInteger(item) && item >= 0)
  );
}

/** OpenAI's embeddings. */
export const openaiEmbeddings: WireFormat = {
  ...openai,
  handles: (path) => PATH.test(path) || DEPLOYMENT_PATH.test(path),
  readRequest,
  renderCompletion({ embeddings = [], modelName, usage }, fault) {
    const tokens = fault?.kind === 'fixed' ? fault.prompt : usage.promptTokens;
    return JSON.stringify({
      object: 'list',
      data: embeddings.map(({ values, encoding }, index) => ({
        object: 'embedding',
        index,
        embedding:
          encoding === 'base64' ? Buffer.from(Float32Array.from(values).buffer).toString('base64') : values,
      })),
      model: modelName,
      ...(fault?.kind === 'none' ? {} : { usage: { prompt_tokens: tokens, total_tokens: tokens } }),
    });
  },
};
