import { readDirectives, splitModelName, withoutDirectives, type Directives } from './directives';
import { badRequest, ProviderError } from './errors';
import { isObject, type Schema } from './json-schema';
import { readMessages, type Prompt } from './messages';
import { findModel, type EmulatedModel } from './models';

export interface ToolDefinition {
  readonly name: string;
  readonly parameters: Schema;
}

type ToolChoice =
  { readonly kind: 'none' | 'auto' | 'required' } | { readonly kind: 'function'; readonly name: string };

type ResponseFormat =
  { readonly kind: 'text' | 'json_object' } | { readonly kind: 'json_schema'; readonly schema: Schema };

/** A chat completion request that the model accepts. */
export interface ChatRequest {
  /** As sent by the client, including suffixes; repeated in the response. */
  readonly modelName: string;
  readonly model: EmulatedModel;
  readonly prompt: Prompt;
  /** The last user message without its directives. */
  readonly question: string;
  readonly directives: Directives;
  readonly stream: boolean;
  readonly includeUsage: boolean;
  readonly maxTokens: number | undefined;
  readonly stop: readonly string[];
  readonly n: number;
  readonly seed: number;
  readonly tools: readonly ToolDefinition[];
  readonly toolsText: string;
  readonly toolChoice: ToolChoice;
  readonly parallelToolCalls: boolean;
  readonly responseFormat: ResponseFormat;
  readonly reasoningEffort: string | undefined;
  readonly logprobs: boolean;
  readonly topLogprobs: number;
  /** Present in requests for embeddings instead of a completion. */
  readonly embeddings?: RequestedEmbeddings;
}

/** One for each part of the prompt. */
export interface RequestedEmbeddings {
  readonly dimensions: number;
  readonly encoding: 'float' | 'base64';
}

/** OpenAI's top-level fields. Others are rejected, which reveals fields that a gateway must not forward. */
const KNOWN_FIELDS = new Set(
  (
    'model messages stream stream_options max_tokens max_completion_tokens temperature top_p n stop seed ' +
    'frequency_penalty presence_penalty logit_bias logprobs top_logprobs tools tool_choice parallel_tool_calls ' +
    'response_format reasoning_effort user safety_identifier metadata store service_tier modalities verbosity ' +
    'prediction prompt_cache_key prompt_cache_retention prompt_cache_options functions function_call audio ' +
    'web_search_options moderation'
  ).split(' '),
);

type Body = { [key: string]: unknown };

/** Validates a parsed body. Throws `ProviderError` with OpenAI's text. */
export function readRequest(
  parsed: unknown,
  faultHeader: string | undefined,
  toolNames = /^[\w-]{1,64}$/,
): ChatRequest {
  if (!isObject(parsed)) {
    throw badRequest('We could not parse the JSON body of your request. (It must be a JSON object.)');
  }
  const body = dropNulls(parsed);
  for (const field in body) {
    if (!KNOWN_FIELDS.has(field)) {
      throw badRequest(`Unknown parameter: '${field}'.`, field, 'unknown_parameter');
    }
  }
  const { modelName, model, suffixes } = readModel(body);
  const prompt = readMessages(body['messages'], model.vision);
  const directives = readDirectives({
    modelSuffixes: suffixes,
    faultHeader,
    lastUserText: prompt.lastUserText,
  });
  const stream = optionalBoolean(body, 'stream') ?? false;
  const tools = readTools(body, model, toolNames);
  return {
    modelName,
    model,
    prompt,
    question: withoutDirectives(prompt.lastUserText),
    directives,
    stream,
    includeUsage: readIncludeUsage(body, stream),
    maxTokens: readMaxTokens(body, model),
    stop: readStop(body),
    n: optionalInteger(body, 'n', 1, 128) ?? 1,
    seed: optionalInteger(body, 'seed', -(2 ** 63), 2 ** 63) ?? 0,
    tools,
    toolsText: tools.length === 0 ? '' : JSON.stringify(body['tools']),
    toolChoice: readToolChoice(body, tools),
    parallelToolCalls: optionalBoolean(body, 'parallel_tool_calls') ?? true,
    responseFormat: readResponseFormat(body, model),
    reasoningEffort: readReasoningEffort(body, model),
    logprobs: optionalBoolean(body, 'logprobs') ?? false,
    topLogprobs: optionalInteger(body, 'top_logprobs', 0, 20) ?? 0,
  };
}

function dropNulls(body: Body): Body {
  for (const key in body) if (body[key] === null) delete body[key];
  return body;
}

function readModel(body: Body): { modelName: string; model: EmulatedModel; suffixes: readonly string[] } {
  const modelName = body['model'];
  if (modelName === undefined || modelName === '') throw badRequest('you must provide a model parameter');
  if (typeof modelName !== 'string') throw wrongType('model', 'a string');
  const { id, directives } = splitModelName(modelName);
  const model = findModel(id);
  if (model === undefined) {
    throw new ProviderError({
      status: 404,
      message: `The model \`${id}\` does not exist or you do not have access to it.`,
      code: 'model_not_found',
    });
  }
  return { modelName, model, suffixes: directives };
}

function wrongType(param: string, expected: string): ProviderError {
  return badRequest(`Invalid type for '${param}': expected ${expected}.`, param, 'invalid_type');
}

function optionalBoolean(body: Body, name: string): boolean | undefined {
  const value = body[name];
  if (value !== undefined && typeof value !== 'boolean') throw wrongType(name, 'a boolean');
  return value;
}

function optionalInteger(body: Body, name: string, low: number, high: number): number | undefined {
  const value = body[name];
  if (value === undefined) return undefined;
  if (typeof value !== 'number' || !Number.isInteger(value)) throw wrongType(name, 'an integer');
  if (value < low || value > high) {
    throw badRequest(
      `Invalid '${name}': expected a value between ${low} and ${high}, but got ${value} instead.`,
      name,
      value < low ? 'integer_below_min_value' : 'integer_above_max_value',
    );
  }
  return value;
}

function readMaxTokens(body: Body, model: EmulatedModel): number | undefined {
  const old = optionalInteger(body, 'max_tokens', 1, Number.MAX_SAFE_INTEGER);
  const current = optionalInteger(body, 'max_completion_tokens', 1, Number.MAX_SAFE_INTEGER);
  if (old !== undefined && current !== undefined) {
    throw badRequest(
      "Setting 'max_tokens' and 'max_completion_tokens' at the same time is not supported.",
      'max_tokens',
      'invalid_parameter_combination',
    );
  }
  const wanted = current ?? old;
  if (wanted !== undefined && wanted > model.maxOutput) {
    const param = current === undefined ? 'max_tokens' : 'max_completion_tokens';
    throw badRequest(
      `${param} is too large: ${wanted}. This model supports at most ${model.maxOutput} completion tokens, ` +
        `whereas you provided ${wanted}.`,
      param,
      'invalid_value',
    );
  }
  return wanted;
}

function readStop(body: Body): readonly string[] {
  const value = body['stop'];
  if (value === undefined) return [];
  const list: unknown[] = Array.isArray(value) ? value : [value];
  if (list.length > 4 || !list.every((one) => typeof one === 'string')) {
    throw badRequest("Invalid 'stop': expected a string or up to 4 strings.", 'stop', 'invalid_type');
  }
  return list.filter((one): one is string => typeof one === 'string' && one !== '');
}

function readIncludeUsage(body: Body, stream: boolean): boolean {
  const options = body['stream_options'];
  if (options === undefined) return false;
  if (!stream) {
    throw badRequest(
      "The 'stream_options' parameter is only allowed when 'stream' is enabled.",
      'stream_options',
    );
  }
  if (!isObject(options)) throw wrongType('stream_options', 'an object');
  return options['include_usage'] === true;
}

function readTools(body: Body, model: EmulatedModel, names: RegExp): ToolDefinition[] {
  const value = body['tools'];
  if (value === undefined) return [];
  if (!Array.isArray(value) || value.length === 0) {
    throw badRequest("Invalid 'tools': empty array. Expected an array with minimum length 1.", 'tools');
  }
  if (!model.tools)
    throw badRequest('tools is not supported in this model.', 'tools', 'unsupported_parameter');
  return value.map((tool: unknown, index) => {
    const definition = isObject(tool) && tool['type'] === 'function' ? tool['function'] : undefined;
    const name = isObject(definition) ? definition['name'] : undefined;
    if (!isObject(definition) || typeof name !== 'string' || !names.test(name)) {
      throw badRequest(
        `Invalid 'tools[${index}]': expected a named function.`,
        `tools[${index}].function.name`,
      );
    }
    const parameters = definition['parameters'];
    return { name, parameters: isObject(parameters) ? parameters : { type: 'object', properties: {} } };
  });
}

function readToolChoice(body: Body, tools: readonly ToolDefinition[]): ToolChoice {
  const value = body['tool_choice'];
  if (value === undefined) return { kind: tools.length > 0 ? 'auto' : 'none' };
  if (tools.length === 0) {
    throw badRequest(
      "Invalid value for 'tool_choice': 'tool_choice' is only allowed when 'tools' are specified.",
      'tool_choice',
    );
  }
  if (value === 'none' || value === 'auto' || value === 'required') return { kind: value };
  const wanted = isObject(value) && isObject(value['function']) ? value['function']['name'] : undefined;
  if (typeof wanted !== 'string' || !tools.some((tool) => tool.name === wanted)) {
    throw badRequest(`Tool choice '${String(wanted)}' not found in 'tools' parameter.`, 'tool_choice');
  }
  return { kind: 'function', name: wanted };
}

function readResponseFormat(body: Body, model: EmulatedModel): ResponseFormat {
  const value = body['response_format'];
  if (value === undefined) return { kind: 'text' };
  const type = isObject(value) ? value['type'] : undefined;
  if (!isObject(value) || (type !== 'text' && type !== 'json_object' && type !== 'json_schema')) {
    throw badRequest(
      "Invalid value for 'response_format.type'. Supported values are: 'text', 'json_object' and 'json_schema'.",
      'response_format.type',
      'invalid_value',
    );
  }
  if (type === 'text') return { kind: 'text' };
  if (!model.jsonMode) {
    throw badRequest(
      `Invalid parameter: 'response_format' of type '${type}' is not supported with this model.`,
      'response_format',
    );
  }
  if (type === 'json_object') return { kind: 'json_object' };
  const described = value['json_schema'];
  if (!isObject(described) || typeof described['name'] !== 'string') {
    throw badRequest(
      "Missing required parameter: 'response_format.json_schema'.",
      'response_format.json_schema',
      'missing_required_parameter',
    );
  }
  const { schema } = described;
  // Without a schema, any JSON object matches.
  if (!isObject(schema)) return { kind: 'json_object' };
  return { kind: 'json_schema', schema };
}

function readReasoningEffort(body: Body, model: EmulatedModel): string | undefined {
  const value = body['reasoning_effort'];
  const accepted = Object.keys(model.reasoningTokens);
  if (value === undefined) return accepted.includes('medium') ? 'medium' : undefined;
  if (accepted.length === 0) {
    throw badRequest(
      'Unrecognized request argument supplied: reasoning_effort',
      'reasoning_effort',
      'unsupported_parameter',
    );
  }
  if (typeof value !== 'string' || !accepted.includes(value)) {
    throw badRequest(
      `Unsupported value: 'reasoning_effort' does not support '${String(value)}' with this model. ` +
        `Supported values are: ${accepted.map((one) => `'${one}'`).join(', ')}.`,
      'reasoning_effort',
      'unsupported_value',
    );
  }
  return value;
}
