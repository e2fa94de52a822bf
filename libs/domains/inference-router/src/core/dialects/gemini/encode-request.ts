import { asObject, type JsonObject } from '../../completion/json';
import type { EncodeCall } from '../dialect';
import { encodeMessages } from './encode-contents';
import { encodeTools } from './encode-tools';
import { refusedValue } from '../failures';
import { withoutReferences } from '../json-schema-references';
import { droppedFields } from '../parsed-request';
import { thinkingBudget } from '../thinking-budget';

/** The most completions of one request. */
const MAX_CANDIDATES = 8;

/** Fields that are copied into `generationConfig` under another name. */
const renamed: Readonly<Record<string, string>> = {
  temperature: 'temperature',
  top_p: 'topP',
  top_k: 'topK',
  frequency_penalty: 'frequencyPenalty',
  presence_penalty: 'presencePenalty',
};

/** Fields with a rule of their own. */
const encoded = new Set([
  'messages',
  'tools',
  'tool_choice',
  'stop',
  'seed',
  'logprobs',
  'top_logprobs',
  'response_format',
  'reasoning_effort',
]);

const dropped = new Set<string>([...droppedFields, 'parallel_tool_calls']);

/** Builds a `GenerateContentRequest`. Model and streaming are in the path. */
export function encodeRequest(request: JsonObject, call: EncodeCall): object {
  checkFields(request);
  const { contents, systemInstruction } = encodeMessages(request['messages']);
  return {
    contents,
    ...(systemInstruction === undefined ? {} : { systemInstruction }),
    ...encodeTools(request['tools'], request['tool_choice']),
    generationConfig: generationConfig(request, call),
  };
}

/** Refuses every field whose effect would be lost. */
function checkFields(request: JsonObject): void {
  for (const [name, value] of Object.entries(request)) {
    const isKnown = Object.hasOwn(renamed, name) || encoded.has(name) || dropped.has(name);
    if (!isKnown && value !== null) throw refusedValue(name, 'the model does not support it.');
  }
}

function generationConfig(request: JsonObject, call: EncodeCall): JsonObject {
  const config: Record<string, unknown> = { maxOutputTokens: call.maxOutputTokens };
  for (const [name, theirs] of Object.entries(renamed)) {
    const value = request[name];
    if (value !== undefined && value !== null) config[theirs] = value;
  }
  if (call.n > 1) config['candidateCount'] = candidateCount(call);
  const { stop, response_format: format, reasoning_effort: effort } = request;
  if (stop !== undefined && stop !== null) config['stopSequences'] = Array.isArray(stop) ? stop : [stop];
  const seed = seedOf(request['seed'], call.exactSeed);
  if (seed !== undefined) config['seed'] = seed;
  if (request['logprobs'] === true) config['responseLogprobs'] = true;
  if (typeof request['top_logprobs'] === 'number') config['logprobs'] = request['top_logprobs'];
  if (typeof effort === 'string') config['thinkingConfig'] = thinkingConfig(effort, call);
  return { ...config, ...responseFormat(asObject(format)) };
}

/** Vertex AI refuses several candidates in a stream. */
function candidateCount({ n, stream }: EncodeCall): number {
  if (stream) throw refusedValue('n', 'the model streams one completion only.');
  if (n > MAX_CANDIDATES) throw refusedValue('n', `the model returns at most ${MAX_CANDIDATES} completions.`);
  return n;
}

/** Gemini's seeds have 32 bits. Others are reduced to them: equal seeds stay equal. */
function seedOf(seed: unknown, exactSeed: bigint | undefined): number | undefined {
  if (exactSeed !== undefined) return Number(BigInt.asIntN(32, exactSeed));
  return Number.isSafeInteger(seed) ? Number(BigInt.asIntN(32, BigInt(seed as number))) : undefined;
}

function responseFormat(format: JsonObject | undefined): JsonObject {
  switch (format?.['type']) {
    case 'json_object':
      return { responseMimeType: 'application/json' };
    case 'json_schema': {
      const schema = asObject(asObject(format['json_schema'])?.['schema']);
      return {
        responseMimeType: 'application/json',
        ...(schema === undefined ? {} : { responseJsonSchema: withoutReferences(schema) }),
      };
    }
    default:
      return {};
  }
}

/** Thoughts count towards `maxOutputTokens`. */
function thinkingConfig(effort: string, { options, maxOutputTokens }: EncodeCall): JsonObject {
  const { reasoningBudgets } = options;
  if (!reasoningBudgets && effort !== 'none') {
    return { includeThoughts: true, thinkingLevel: effort.toUpperCase() };
  }
  const budget = thinkingBudget(reasoningBudgets?.[effort] ?? 0, maxOutputTokens);
  return { thinkingBudget: budget, ...(budget === 0 ? {} : { includeThoughts: true }) };
}
