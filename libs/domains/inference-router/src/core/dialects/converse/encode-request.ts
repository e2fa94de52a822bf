import { asObject, type JsonObject } from '../../completion/json';
import type { EncodeCall } from '../dialect';
import { CachePoints } from './cache-points';
import { MessageEncoder } from './encode-messages';
import { encodeEffort } from './encode-reasoning';
import { encodeTools } from './encode-tools';
import { familyOf, type ModelFamily } from './model-family';
import { refused } from '../failures';
import { isBlankStop, stopsOf } from '../blank-stops';
import { strictKeywords } from '../claude-rules';
import { isRecursive } from '../json-schema-references';
import { strictSchema } from '../json-schema-strict';
import { droppedFields } from '../parsed-request';
import { rulesOf } from './rules';

/** Fields that are sent, by another name or place. */
const encoded = [
  'messages',
  'tools',
  'tool_choice',
  'response_format',
  'reasoning_effort',
  'temperature',
  'top_p',
  'stop',
] as const;

const known = new Set<string>([...encoded, ...droppedFields, 'seed', 'parallel_tool_calls']);

/** The body of Converse and ConverseStream. */
export function encodeRequest(body: JsonObject, call: EncodeCall): object {
  if (call.n > 1) throw refused('n', 'This model returns a single completion per request.');
  for (const [name, value] of Object.entries(body)) {
    if (!known.has(name) && hasEffect(value)) {
      throw refused(name, `This model does not support '${name}'.`);
    }
  }
  const family = familyOf(call.providerModel);
  const points = new CachePoints(family);
  const { tools, toolChoice, isForced } = encodeTools(body, points);
  const messages = body['messages'] as readonly JsonObject[];
  const sent = new MessageEncoder(family, points, tools.length > 0).encode(messages);
  const reasoning = encodeEffort(body['reasoning_effort'], family, call, {
    messages,
    isToolForced: isForced,
  });
  const outputConfig = { ...encodeFormat(body['response_format']), ...reasoning.outputConfig };
  const { additionalModelRequestFields } = reasoning;
  return {
    messages: sent.turns,
    ...(sent.system.length > 0 ? { system: sent.system } : {}),
    inferenceConfig: encodeInference(body, call, family, reasoning.fixesSampling),
    ...(tools.length > 0 ? { toolConfig: { tools, ...(toolChoice ? { toolChoice } : {}) } } : {}),
    ...(isEmpty(outputConfig) ? {} : { outputConfig }),
    ...(isEmpty(additionalModelRequestFields) ? {} : { additionalModelRequestFields }),
  };
}

function encodeInference(
  body: JsonObject,
  call: EncodeCall,
  family: ModelFamily,
  fixesSampling: boolean,
): JsonObject {
  const config: Record<string, unknown> = { maxTokens: call.maxOutputTokens };
  const isSent = (name: string): boolean => body[name] !== undefined && body[name] !== null;
  if (isSent('temperature') && !fixesSampling) {
    // "InferenceConfiguration", `temperature`.
    if (Number(body['temperature']) > 1)
      throw refused('temperature', 'The temperature of this model is at most 1.');
    config['temperature'] = body['temperature'];
  }
  if (isSent('top_p') && !fixesSampling) config['topP'] = body['top_p'];
  // Where the model refuses stop sequences of white space, the text is cut here.
  const { blankStops } = rulesOf(family);
  const stops = stopsOf(body['stop']).filter((stop) => blankStops || !isBlankStop(stop));
  if (stops.length > 0) config['stopSequences'] = stops;
  return config;
}

function encodeFormat(format: unknown): JsonObject {
  const { type, json_schema: described } = asObject(format) ?? {};
  if (type === undefined || type === 'text') return {};
  if (type !== 'json_schema') {
    throw refused('response_format', "This model supports the formats 'text' and 'json_schema'.");
  }
  const { name, description, schema: wanted } = asObject(described) ?? {};
  const schema = asObject(wanted) ?? { type: 'object' };
  if (isRecursive(schema))
    throw refused('response_format', 'This model does not support schemas that contain themselves.');
  const jsonSchema = {
    ...(typeof name === 'string' ? { name } : {}),
    ...(typeof description === 'string' && description !== '' ? { description } : {}),
    schema: JSON.stringify(strictSchema(schema, strictKeywords)),
  };
  return { textFormat: { type: 'json_schema', structure: { jsonSchema } } };
}

/** Whether a field that cannot be sent requests anything but the default. */
function hasEffect(value: unknown): boolean {
  if (value === null || value === undefined || value === false || value === 0) return false;
  const object = asObject(value);
  return !object || !isEmpty(object);
}

function isEmpty(object: JsonObject): boolean {
  return Object.keys(object).length === 0;
}
