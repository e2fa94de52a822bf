import { readDirectives, splitModelName, withoutDirectives } from '../../directives';
import { ProviderError } from '../../errors';
import { isObject } from '../../json-schema';
import { findModel, type EmulatedModel } from '../../models';
import type { ChatRequest, ToolDefinition } from '../../request';
import type { WireRequest } from '../../wire-format';
import { problemOf, problemOfToolSchema } from '../structured-outputs';
import { invalid } from './errors';
import { readPrompt } from './read-messages';

/** Paths of the Messages API; Vertex AI has the model in the path. */
const MESSAGES_PATH = /(?:^|\/)v1\/messages$/;
const VERTEX_PATH = /\/publishers\/anthropic\/models\/([^/:]+):(rawPredict|streamRawPredict)$/;
const VERTEX_VERSION = 'vertex-2023-10-16';

/** The top-level fields. Others are rejected, which reveals fields that a gateway must not forward. */
const KNOWN_FIELDS = new Set(
  (
    'model messages max_tokens system tools tool_choice thinking output_config stop_sequences temperature top_p ' +
    'top_k stream metadata service_tier anthropic_version inference_geo'
  ).split(' '),
);

/** The version of the API from which on it has no sampling parameters. */
const VERSION_WITHOUT_SAMPLING = '2026-10-21';
const SAMPLING_FIELDS = ['temperature', 'top_p', 'top_k'];

const MIN_BUDGET_TOKENS = 1_024;
/** The efforts of the API, by the efforts of the emulated models. */
const EFFORTS: Readonly<Record<string, string>> = {
  low: 'low',
  medium: 'medium',
  high: 'high',
  xhigh: 'high',
  max: 'high',
};

interface Body {
  readonly [key: string]: unknown;
}

export function handles(path: string): boolean {
  return MESSAGES_PATH.test(path) || VERTEX_PATH.test(path);
}

/** Validates a request. Throws `ProviderError` with the texts of the Messages API. */
export function readRequest({ path, body: parsed, headers, faultHeader }: WireRequest): ChatRequest {
  if (!isObject(parsed)) throw invalid('body', 'Input should be a valid dictionary');
  const body: Body = parsed;
  for (const field in body) {
    if (!KNOWN_FIELDS.has(field)) throw invalid(field, 'Extra inputs are not permitted');
  }
  const vertex = VERTEX_PATH.exec(path);
  checkVersion(body, vertex !== null, headers['anthropic-version']);
  const { modelName, model, suffixes } = readModel(
    vertex ? decodeURIComponent(vertex[1] ?? '') : body['model'],
  );
  const maxTokens = readMaxTokens(body, model);
  const { prompt, usesTools, loopStart } = readPrompt(body, model.vision);
  const tools = readTools(body, model);
  if (usesTools && tools.length === 0) {
    throw invalid('tools', 'Requests which include `tool_use` or `tool_result` blocks must define tools');
  }
  const { choice, isSequential } = readToolChoice(body, tools);
  const { reasoningEffort } = readThinking(body, { model, maxTokens, loopStart, forced: choice.kind });
  readSampling(body);
  const isStream = body['stream'] === true;
  if (vertex && (vertex[2] === 'streamRawPredict') !== isStream) {
    throw invalid('stream', 'does not match the method');
  }
  return {
    modelName,
    model,
    prompt,
    question: withoutDirectives(prompt.lastUserText),
    directives: readDirectives({ modelSuffixes: suffixes, faultHeader, lastUserText: prompt.lastUserText }),
    stream: isStream,
    includeUsage: true,
    maxTokens,
    stop: readStopSequences(body),
    n: 1,
    seed: 0,
    tools,
    // Tools are a part of the prompt.
    toolsText: '',
    toolChoice: choice,
    parallelToolCalls: !isSequential,
    responseFormat: readOutputFormat(body, model),
    reasoningEffort,
    logprobs: false,
    topLogprobs: 0,
  };
}

function checkVersion(body: Body, isVertex: boolean, header: unknown): void {
  const inBody = body['anthropic_version'];
  if (isVertex) {
    if (inBody !== VERTEX_VERSION) throw invalid('anthropic_version', `Input should be '${VERTEX_VERSION}'`);
    if (body['model'] !== undefined) throw invalid('model', 'Extra inputs are not permitted');
  } else if (inBody === undefined && header === undefined) {
    throw invalid('anthropic-version', 'header is required');
  }
  const sampling = SAMPLING_FIELDS.find((name) => body[name] !== undefined);
  if (sampling !== undefined && (header ?? inBody) === VERSION_WITHOUT_SAMPLING) {
    throw invalid(sampling, 'Extra inputs are not permitted');
  }
}

function readModel(name: unknown): {
  modelName: string;
  model: EmulatedModel;
  suffixes: readonly string[];
} {
  if (typeof name !== 'string' || name === '') throw invalid('model', 'Field required');
  const { id, directives } = splitModelName(name);
  const model = findModel(id);
  if (model === undefined) throw new ProviderError({ status: 404, message: `model: ${id}` });
  return { modelName: name, model, suffixes: directives };
}

function readMaxTokens(body: Body, model: EmulatedModel): number {
  const value = body['max_tokens'];
  if (value === undefined) throw invalid('max_tokens', 'Field required');
  if (typeof value !== 'number' || !Number.isInteger(value) || value < 1) {
    throw invalid('max_tokens', 'Input should be greater than or equal to 1');
  }
  if (value > model.maxOutput) {
    throw invalid(
      'max_tokens',
      `${value} > ${model.maxOutput}, which is the maximum allowed number of output tokens for ${model.id}`,
    );
  }
  return value;
}

function readTools(body: Body, model: EmulatedModel): ToolDefinition[] {
  const value = body['tools'];
  if (value === undefined) return [];
  if (!Array.isArray(value)) throw invalid('tools', 'Input should be a valid list');
  if (value.length > 0 && !model.tools) throw invalid('tools', 'this model does not support tools');
  return value.map((tool: unknown, index) => {
    const { name, strict, input_schema: parameters } = isObject(tool) ? tool : {};
    if (typeof name !== 'string' || !/^[a-zA-Z0-9_-]{1,128}$/.test(name)) {
      throw invalid(`tools.${index}.custom.name`, "String should match pattern '^[a-zA-Z0-9_-]{1,128}$'");
    }
    if (!isObject(parameters) || parameters['type'] !== 'object') {
      throw invalid(`tools.${index}.custom.input_schema.type`, "Input should be 'object'");
    }
    const problem = problemOfToolSchema(parameters) ?? (strict === true ? problemOf(parameters) : undefined);
    if (problem !== undefined) throw invalid(`tools.${index}.custom`, problem);
    return { name, parameters };
  });
}

function readToolChoice(
  body: Body,
  tools: readonly ToolDefinition[],
): { choice: ChatRequest['toolChoice']; isSequential: boolean } {
  const value = body['tool_choice'];
  if (value === undefined)
    return { choice: { kind: tools.length > 0 ? 'auto' : 'none' }, isSequential: false };
  if (tools.length === 0) throw invalid('tool_choice', 'may only be specified while providing `tools`');
  const { type, name, disable_parallel_tool_use: disabled } = isObject(value) ? value : {};
  const isSequential = disabled === true;
  switch (type) {
    case 'auto':
    case 'none':
      return { choice: { kind: type }, isSequential };
    case 'any':
      return { choice: { kind: 'required' }, isSequential };
    case 'tool':
      if (!tools.some((tool) => tool.name === name)) {
        throw invalid('tool_choice.tool.name', `Tool '${String(name)}' not found in provided tools`);
      }
      return { choice: { kind: 'function', name: String(name) }, isSequential };
    default:
      throw invalid('tool_choice', "Input should be 'auto', 'any', 'tool' or 'none'");
  }
}

interface ThinkingContext {
  readonly model: EmulatedModel;
  readonly maxTokens: number;
  readonly loopStart: string | undefined;
  readonly forced: ChatRequest['toolChoice']['kind'];
}

/** Thinking, and the rules for other fields while the model thinks. */
function readThinking(body: Body, context: ThinkingContext): { reasoningEffort: string | undefined } {
  const { model } = context;
  const config = body['thinking'];
  const type = isObject(config) ? config['type'] : undefined;
  const efforts = Object.keys(model.reasoningTokens);
  const effort = readEffort(body, efforts);
  if (config === undefined || type === 'disabled') return { reasoningEffort: undefined };
  if (efforts.length === 0) throw invalid('thinking', 'this model does not support thinking');
  if (body['temperature'] !== undefined && body['temperature'] !== 1) {
    throw invalid('temperature', '`temperature` may only be set to 1 when thinking is enabled');
  }
  if (body['top_k'] !== undefined) {
    throw invalid('top_k', '`top_k` must be unset when thinking is enabled');
  }
  if (typeof body['top_p'] === 'number' && body['top_p'] < 0.95) {
    throw invalid('top_p', '`top_p` must be greater than or equal to 0.95 when thinking is enabled');
  }
  if (context.forced === 'required' || context.forced === 'function') {
    throw invalid('tool_choice', 'Thinking may not be enabled when tool_choice forces tool use.');
  }
  if (type === 'adaptive') return { reasoningEffort: effort ?? 'high' };
  if (type !== 'enabled')
    throw invalid('thinking.type', "Input should be 'enabled', 'disabled' or 'adaptive'");
  return { reasoningEffort: readBudget(isObject(config) ? config['budget_tokens'] : undefined, context) };
}

function readEffort(body: Body, efforts: readonly string[]): string | undefined {
  const effort = isObject(body['output_config']) ? body['output_config']['effort'] : undefined;
  if (effort === undefined) return undefined;
  if (efforts.length === 0) {
    throw new ProviderError({ status: 400, message: 'This model does not support the effort parameter.' });
  }
  const known = typeof effort === 'string' && Object.hasOwn(EFFORTS, effort) ? EFFORTS[effort] : undefined;
  if (known === undefined) {
    throw invalid('output_config.effort', "Input should be 'low', 'medium', 'high', 'xhigh' or 'max'");
  }
  return known;
}

function readBudget(budget: unknown, { maxTokens, loopStart }: ThinkingContext): string {
  if (typeof budget !== 'number' || budget < MIN_BUDGET_TOKENS) {
    throw invalid('thinking.enabled.budget_tokens', 'Input should be greater than or equal to 1024');
  }
  if (budget >= maxTokens) {
    throw invalid('max_tokens', '`max_tokens` must be greater than `thinking.budget_tokens`');
  }
  if (loopStart !== undefined && loopStart !== 'thinking' && loopStart !== 'redacted_thinking') {
    throw invalid(
      'messages',
      `Expected \`thinking\` or \`redacted_thinking\`, but found \`${loopStart}\`. When \`thinking\` is enabled, a final ` +
        '`assistant` message must start with a thinking block.',
    );
  }
  if (budget < 2 * MIN_BUDGET_TOKENS) return 'low';
  return budget < 8 * MIN_BUDGET_TOKENS ? 'medium' : 'high';
}

function readSampling(body: Body): void {
  if (body['temperature'] !== undefined && body['top_p'] !== undefined) {
    throw invalid('temperature', '`temperature` and `top_p` cannot both be specified for this model.');
  }
  for (const name of ['temperature', 'top_p']) {
    const value = body[name];
    if (value === undefined) continue;
    if (typeof value !== 'number' || value < 0 || value > 1) throw invalid(name, 'range: 0..1');
  }
}

function readStopSequences(body: Body): readonly string[] {
  const value = body['stop_sequences'];
  if (value === undefined) return [];
  if (!Array.isArray(value) || !value.every((one) => typeof one === 'string')) {
    throw invalid('stop_sequences', 'Input should be a valid list of strings');
  }
  if (!value.every((one) => /\S/.test(one))) {
    throw invalid('stop_sequences', 'each stop sequence must contain non-whitespace');
  }
  return value;
}

function readOutputFormat(body: Body, model: EmulatedModel): ChatRequest['responseFormat'] {
  const format = isObject(body['output_config']) ? body['output_config']['format'] : undefined;
  if (format === undefined) return { kind: 'text' };
  if (!model.jsonMode)
    throw invalid('output_config.format', 'this model does not support structured outputs');
  const { type, schema } = isObject(format) ? format : {};
  if (type !== 'json_schema' || !isObject(schema)) {
    throw invalid('output_config.format', "Input should be 'json_schema' with a schema");
  }
  const problem = problemOf(schema);
  if (problem !== undefined) throw invalid('output_config.format.schema', problem);
  return { kind: 'json_schema', schema };
}
