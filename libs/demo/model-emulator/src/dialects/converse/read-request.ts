import { readDirectives, splitModelName, withoutDirectives } from '../../directives';
import { ProviderError } from '../../errors';
import { isObject, type Schema } from '../../json-schema';
import { findModel, type EmulatedModel } from '../../models';
import type { ChatRequest, ToolDefinition } from '../../request';
import type { WireRequest } from '../../wire-format';
import { problemOf, problemOfToolSchema } from '../structured-outputs';
import { invalid } from './errors';
import { readPrompt } from './read-messages';

const PATH = /\/model\/([^/]+)\/(converse|converse-stream)$/;

/** The fields of the request. Others are rejected, which reveals fields that a gateway must not forward. */
const KNOWN_FIELDS = new Set(
  (
    'messages system inferenceConfig toolConfig guardrailConfig additionalModelRequestFields promptVariables ' +
    'additionalModelResponseFieldPaths requestMetadata performanceConfig serviceTier outputConfig'
  ).split(' '),
);
const INFERENCE_FIELDS = new Set(['maxTokens', 'temperature', 'topP', 'stopSequences']);
const MIN_BUDGET_TOKENS = 1_024;

type Body = { readonly [key: string]: unknown };

export function handles(path: string): boolean {
  return PATH.test(path);
}

/** Validates a request. Throws `ProviderError`. */
export function readRequest({ path, body, faultHeader }: WireRequest): ChatRequest {
  if (!isObject(body)) throw invalid('body', 'is not a JSON object');
  for (const field in body)
    if (!KNOWN_FIELDS.has(field)) throw invalid(field, 'extraneous key is not permitted');
  const [, name = '', operation] = PATH.exec(path) ?? [];
  const modelName = decodeURIComponent(name);
  const { id, directives: modelSuffixes } = splitModelName(modelName);
  // The vendor of a model id, such as "us.anthropic.", is not part of an emulated model.
  const model = findModel(id.replace(/^.*[./]/, ''));
  if (model === undefined) {
    throw new ProviderError({ status: 400, message: 'The provided model identifier is invalid.' });
  }
  const isClaude = id.includes('anthropic.');
  const { prompt, usesTools } = readPrompt(body, {
    vision: model.vision,
    imagesInResults: isClaude || id.includes('amazon.nova'),
    callIds: isClaude ? /^[a-zA-Z0-9_-]{1,64}$/ : /^[a-zA-Z0-9_.:-]{1,64}$/,
  });
  const tools = readTools(body, model);
  if (usesTools && tools.length === 0) {
    throw invalid('toolConfig', 'must be defined when using toolUse and toolResult content blocks.');
  }
  const inference = readInference(body, model);
  if (isClaude) checkClaude(body, inference.stop, tools);
  const toolChoice = readToolChoice(body, tools);
  return {
    modelName,
    model,
    prompt,
    question: withoutDirectives(prompt.lastUserText),
    directives: readDirectives({ modelSuffixes, faultHeader, lastUserText: prompt.lastUserText }),
    stream: operation === 'converse-stream',
    includeUsage: true,
    ...inference,
    n: 1,
    seed: 0,
    tools,
    // Tools are a part of the prompt.
    toolsText: '',
    toolChoice,
    parallelToolCalls: true,
    responseFormat: readTextFormat(body, model),
    reasoningEffort: readEffort(body, model, inference.maxTokens, toolChoice),
    logprobs: false,
    topLogprobs: 0,
  };
}

function objectIn(holder: unknown, name: string): Body | undefined {
  const value = isObject(holder) ? holder[name] : undefined;
  if (value !== undefined && !isObject(value)) throw invalid(name, 'is not a JSON object');
  return value;
}

function readInference(body: Body, model: EmulatedModel) {
  const config = objectIn(body, 'inferenceConfig') ?? {};
  for (const field in config) {
    if (!INFERENCE_FIELDS.has(field))
      throw invalid(`inferenceConfig.${field}`, 'extraneous key is not permitted');
  }
  const { maxTokens, stopSequences } = config;
  if (maxTokens !== undefined && !(typeof maxTokens === 'number' && maxTokens >= 1)) {
    throw invalid('inferenceConfig.maxTokens', 'must be at least 1');
  }
  if (typeof maxTokens === 'number' && maxTokens > model.maxOutput) {
    throw invalid('inferenceConfig.maxTokens', `exceeds the model limit of ${model.maxOutput}`);
  }
  for (const name of ['temperature', 'topP']) {
    const value = config[name];
    if (value === undefined || (typeof value === 'number' && value >= 0 && value <= 1)) continue;
    throw invalid(`inferenceConfig.${name}`, 'must be between 0 and 1');
  }
  const stop: unknown[] = Array.isArray(stopSequences) ? stopSequences : [];
  return {
    maxTokens: typeof maxTokens === 'number' ? maxTokens : undefined,
    stop: stop.filter((one): one is string => typeof one === 'string'),
  };
}

function checkClaude(body: Body, stop: readonly string[], tools: readonly ToolDefinition[]): void {
  for (const [index, { parameters }] of tools.entries()) {
    const problem = problemOfToolSchema(parameters);
    if (problem !== undefined) throw invalid(`tools.${index}.custom`, problem);
  }
  const { temperature, topP } = objectIn(body, 'inferenceConfig') ?? {};
  if (temperature !== undefined && topP !== undefined) {
    throw invalid('temperature', '`temperature` and `top_p` cannot both be specified for this model.');
  }
  if (stop.some((one) => one.trim() === '')) {
    throw invalid('stop_sequences', 'each stop sequence must contain non-whitespace');
  }
}

function readTools(body: Body, model: EmulatedModel): ToolDefinition[] {
  const config = objectIn(body, 'toolConfig');
  if (config === undefined) return [];
  if (!model.tools) throw invalid('toolConfig', "This model doesn't support tool use.");
  const listed: unknown[] = Array.isArray(config['tools']) ? config['tools'] : [];
  const tools = listed.flatMap((tool) => {
    const spec = objectIn(tool, 'toolSpec');
    if (spec === undefined) return [];
    const { name, description } = spec;
    const parameters = objectIn(spec['inputSchema'], 'json');
    if (typeof name !== 'string' || !/^[a-zA-Z0-9_-]{1,64}$/.test(name) || description === '') {
      throw invalid('toolConfig.tools', 'has a tool whose name or description is not valid');
    }
    if (parameters?.['type'] !== 'object') {
      throw invalid(
        'toolConfig.tools',
        'toolSpec.inputSchema.json.type must be one of the following: object.',
      );
    }
    return [{ name, parameters: parameters as Schema }];
  });
  if (tools.length === 0) throw invalid('toolConfig.tools', 'must have at least one tool');
  return tools;
}

function readToolChoice(body: Body, tools: readonly ToolDefinition[]): ChatRequest['toolChoice'] {
  const choice = objectIn(objectIn(body, 'toolConfig'), 'toolChoice');
  if (choice === undefined || 'auto' in choice) return { kind: tools.length > 0 ? 'auto' : 'none' };
  if ('any' in choice) return { kind: 'required' };
  const name = objectIn(choice, 'tool')?.['name'];
  if (typeof name === 'string' && tools.some((tool) => tool.name === name)) return { kind: 'function', name };
  throw invalid('toolConfig.toolChoice', 'names no tool');
}

function readTextFormat(body: Body, model: EmulatedModel): ChatRequest['responseFormat'] {
  const format = objectIn(objectIn(body, 'outputConfig'), 'textFormat');
  if (format === undefined) return { kind: 'text' };
  if (!model.jsonMode) throw invalid('outputConfig.textFormat', 'is not supported by this model');
  const schema = objectIn(format['structure'], 'jsonSchema')?.['schema'];
  if (format['type'] !== 'json_schema' || typeof schema !== 'string') {
    throw invalid('outputConfig.textFormat', 'must have a JSON schema as text');
  }
  const parsed = JSON.parse(schema) as Schema;
  const problem = problemOf(parsed);
  if (problem !== undefined) throw invalid('outputConfig.textFormat', problem);
  return { kind: 'json_schema', schema: parsed };
}

/** The reasoning fields of the vendors. */
function readEffort(
  body: Body,
  model: EmulatedModel,
  maxTokens: number | undefined,
  toolChoice: ChatRequest['toolChoice'],
): string | undefined {
  const fields = objectIn(body, 'additionalModelRequestFields') ?? {};
  const thinking = objectIn(fields, 'thinking');
  if (thinking?.['type'] === 'disabled') return undefined;
  const effort =
    objectIn(fields, 'output_config')?.['effort'] ??
    objectIn(fields, 'reasoningConfig')?.['maxReasoningEffort'] ??
    fields['reasoning_effort'] ??
    fields['reasoning_config'] ??
    objectIn(body, 'outputConfig')?.['effort'] ??
    (thinking === undefined ? undefined : readBudget(thinking['budget_tokens'], maxTokens));
  if (effort === undefined) return undefined;
  if (thinking !== undefined) checkThinking(body, toolChoice);
  if (typeof effort === 'string' && effort in model.reasoningTokens) return effort;
  throw invalid(
    'additionalModelRequestFields',
    `the model does not support the effort ${JSON.stringify(effort)}`,
  );
}

function readBudget(budget: unknown, maxTokens: number | undefined): string {
  if (typeof budget !== 'number' || budget < MIN_BUDGET_TOKENS) {
    throw invalid('thinking.budget_tokens', 'Input should be greater than or equal to 1024');
  }
  if (maxTokens !== undefined && budget >= maxTokens) {
    throw invalid('max_tokens', '`max_tokens` must be greater than `thinking.budget_tokens`');
  }
  if (budget < 2 * MIN_BUDGET_TOKENS) return 'low';
  return budget < 8 * MIN_BUDGET_TOKENS ? 'medium' : 'high';
}

function checkThinking(body: Body, toolChoice: ChatRequest['toolChoice']): void {
  const { temperature, topP } = objectIn(body, 'inferenceConfig') ?? {};
  if (temperature !== undefined || topP !== undefined) {
    throw invalid('temperature', 'may only be set to 1 when thinking is enabled');
  }
  if (toolChoice.kind === 'required' || toolChoice.kind === 'function') {
    throw invalid('tool_choice', 'Thinking may not be enabled when tool_choice forces tool use.');
  }
}
