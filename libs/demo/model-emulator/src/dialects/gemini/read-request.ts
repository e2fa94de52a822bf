import { badRequest, ProviderError } from '../../errors';
import { isObject } from '../../json-schema';
import { findModel, type EmulatedModel } from '../../models';
import { readRequest as readChatRequest, type ChatRequest } from '../../request';
import { splitModelName } from '../../directives';
import type { WireRequest } from '../../wire-format';
import { METHOD } from './path';
import { FUNCTION_NAME, functionName, readContents, type Message } from './read-contents';
import { checkSchema } from './schema-rules';

type Fields = { [key: string]: unknown };

const KNOWN_FIELDS = new Set([
  'contents',
  'systemInstruction',
  'tools',
  'toolConfig',
  'safetySettings',
  'generationConfig',
]);

/** Fields of `generationConfig`, with the field of OpenAI that has the same meaning, if there is one. */
const CONFIG: Readonly<Record<string, string | null>> = {
  maxOutputTokens: 'max_tokens',
  candidateCount: 'n',
  temperature: 'temperature',
  topP: 'top_p',
  topK: null,
  seed: 'seed',
  stopSequences: 'stop',
  presencePenalty: 'presence_penalty',
  frequencyPenalty: 'frequency_penalty',
  responseLogprobs: 'logprobs',
  logprobs: 'top_logprobs',
  responseModalities: null,
  responseMimeType: null,
  responseJsonSchema: null,
  thinkingConfig: null,
};

const MAX_CANDIDATES = 8;

/** Reads a `GenerateContentRequest`. Throws `ProviderError` for what Gemini rejects. */
export function readRequest({ path, body, faultHeader }: WireRequest): ChatRequest {
  const [, name = '', method] = METHOD.exec(path) ?? [];
  const stream = method === 'streamGenerateContent';
  const modelName = decodeURIComponent(name);
  const model = modelOf(modelName);
  if (!isObject(body)) throw badRequest('Invalid JSON payload received.');
  refuseUnknown(body, KNOWN_FIELDS, '');
  const config = objectAt(body, 'generationConfig');
  refuseUnknown(config, new Set(Object.keys(CONFIG)), " at 'generation_config'");
  const thinks = Object.keys(model.reasoningTokens).length > 0;
  const messages = [...instructions(body['systemInstruction']), ...readContents(body['contents'], thinks)];
  const request = readChatRequest(
    {
      model: modelName,
      messages,
      stream,
      ...(stream ? { stream_options: { include_usage: true } } : {}),
      ...sampling(config),
      ...responseFormat(config),
      ...tools(body),
    },
    faultHeader,
    FUNCTION_NAME,
  );
  if (request.n > (stream ? 1 : MAX_CANDIDATES)) {
    throw badRequest(
      'Multiple candidates is not enabled for this method.',
      'generation_config.candidate_count',
    );
  }
  return { ...request, ...thinking(config, model, request.reasoningEffort) };
}

function modelOf(modelName: string): EmulatedModel {
  const { id } = splitModelName(modelName);
  const model = findModel(id);
  if (model !== undefined) return model;
  const message = `models/${id} is not found for API version v1beta, or is not supported for generateContent.`;
  throw new ProviderError({ status: 404, message });
}

function refuseUnknown(fields: Fields, known: ReadonlySet<string>, place: string): void {
  const unknown = Object.keys(fields).find((name) => !known.has(name));
  if (unknown === undefined) return;
  throw badRequest(
    `Invalid JSON payload received. Unknown name "${unknown}"${place}: Cannot find field.`,
    unknown,
  );
}

function objectAt(fields: Fields, name: string): Fields {
  const value = fields[name] ?? {};
  if (!isObject(value)) throw badRequest(`Invalid value at '${name}'.`, name);
  return value;
}

function instructions(value: unknown): Message[] {
  if (value === undefined) return [];
  const parts = isObject(value) ? value['parts'] : undefined;
  const texts = Array.isArray(parts)
    ? parts.map((part: unknown) => (isObject(part) ? part['text'] : undefined))
    : [];
  if (texts.length === 0 || !texts.every((text) => typeof text === 'string')) {
    throw badRequest('The system instruction must have text parts.', 'system_instruction');
  }
  return texts.map((content) => ({ role: 'system', content }));
}

function sampling(config: Fields): Fields {
  const fields: Fields = {};
  for (const [name, ours] of Object.entries(CONFIG)) {
    if (ours !== null && config[name] !== undefined) fields[ours] = config[name];
  }
  return fields;
}

function responseFormat({ responseMimeType: type, responseJsonSchema: schema }: Fields): Fields {
  if (type === undefined || type === 'text/plain') {
    if (schema === undefined) return {};
    throw badRequest("A response schema requires the response mime type 'application/json'.");
  }
  if (type !== 'application/json') throw badRequest('The response mime type is not supported.');
  checkSchema(schema);
  if (schema === undefined) return { response_format: { type: 'json_object' } };
  return { response_format: { type: 'json_schema', json_schema: { name: 'response', schema } } };
}

function tools(body: Fields): Fields {
  const list = body['tools'];
  const calling = objectAt(objectAt(body, 'toolConfig'), 'functionCallingConfig');
  if (list === undefined) return {};
  const declarations = (Array.isArray(list) ? list : []).flatMap((tool: unknown): unknown[] =>
    isObject(tool) && Array.isArray(tool['functionDeclarations']) ? tool['functionDeclarations'] : [],
  );
  return {
    tools: declarations.map((declaration) => {
      if (!isObject(declaration)) throw badRequest("Invalid value at 'tools'.", 'tools');
      const { name, description, parametersJsonSchema: parameters } = declaration;
      checkSchema(parameters);
      return { type: 'function', function: { name: functionName(name), description, parameters } };
    }),
    tool_choice: toolChoice(calling),
  };
}

function toolChoice({ mode = 'AUTO', allowedFunctionNames: names }: Fields): unknown {
  switch (mode) {
    case 'AUTO':
      return 'auto';
    case 'NONE':
      return 'none';
    case 'ANY': {
      const [name] = Array.isArray(names) ? (names as unknown[]) : [];
      return name === undefined ? 'required' : { type: 'function', function: { name } };
    }
    default:
      throw badRequest("Invalid value at 'tool_config.function_calling_config.mode'.", 'tool_config');
  }
}

/** Thinks by default. Thoughts are only shown on request. */
function thinking(
  config: Fields,
  model: EmulatedModel,
  defaultEffort: string | undefined,
): Pick<ChatRequest, 'model' | 'reasoningEffort'> {
  const { thinkingConfig } = config;
  const levels = Object.entries(model.reasoningTokens);
  if (thinkingConfig === undefined) {
    return { model: { ...model, showsReasoning: false }, reasoningEffort: defaultEffort };
  }
  if (!isObject(thinkingConfig) || levels.length === 0) {
    throw badRequest('Thinking is not supported for this model.', 'generation_config.thinking_config');
  }
  const { thinkingLevel: level, thinkingBudget: budget, includeThoughts } = thinkingConfig;
  const shown = { ...model, showsReasoning: model.showsReasoning && includeThoughts === true };
  if (level !== undefined && budget !== undefined) {
    throw badRequest('You can only set only one of thinking budget and thinking level.');
  }
  if (typeof budget === 'number' && budget >= 0) {
    const affordable = levels.filter(([, tokens]) => tokens <= budget).at(-1);
    return { model: shown, reasoningEffort: affordable?.[0] };
  }
  if (level === undefined) return { model: shown, reasoningEffort: defaultEffort };
  const effort = String(level).toLowerCase();
  if (!Object.hasOwn(model.reasoningTokens, effort)) {
    throw badRequest(`Thinking level ${String(level)} is not supported for this model.`);
  }
  return { model: shown, reasoningEffort: effort };
}
