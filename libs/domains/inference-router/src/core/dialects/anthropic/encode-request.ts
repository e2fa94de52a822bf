import { asObject, type JsonObject } from '../../completion/json';
import type { EncodeCall } from '../dialect';
import { encodeMessages } from './encode-messages';
import { encodeThinking, type Thinking } from './encode-thinking';
import { encodeTools } from './encode-tools';
import { refused } from '../failures';
import { isBlankStop, stopsOf } from '../blank-stops';
import { strictKeywords } from '../claude-rules';
import { isRecursive } from '../json-schema-references';
import { strictSchema } from '../json-schema-strict';
import { droppedFields } from '../parsed-request';

/** While the model thinks, the provider accepts `top_p` only from here. */
const MIN_TOP_P_WHILE_THINKING = 0.95;

const BODY_VERSIONS = { vertex: 'vertex-2023-10-16', bedrock: 'bedrock-2023-05-31' } as const;

/** Fields that the dialect encodes, and hints that the Messages API does not have. The rest are extra parameters. */
const READ_OR_DROPPED: ReadonlySet<string> = new Set([
  ...droppedFields,
  'messages',
  'tools',
  'tool_choice',
  'parallel_tool_calls',
  'response_format',
  'reasoning_effort',
  'temperature',
  'top_p',
  'top_k',
  'stop',
  'seed',
  'frequency_penalty',
  'presence_penalty',
  'logprobs',
  'top_logprobs',
  'logit_bias',
]);

/** See the fidelity table in the README. */
export function encodeRequest(body: JsonObject, call: EncodeCall): object {
  refuseInexpressible(body, call);
  const { system, turns } = encodeMessages(body['messages'] as readonly JsonObject[]);
  const { tools, tool_choice } = encodeTools(body, turns, {
    dropsStrict: call.options.drops.includes('strict'),
  });
  const forcesTool = tool_choice?.type === 'any' || tool_choice?.type === 'tool';
  const thinking = encodeThinking(body['reasoning_effort'], call, { turns, forcesTool });
  const request = {
    ...hostFields(call),
    max_tokens: call.maxOutputTokens,
    ...(call.stream ? { stream: true } : {}),
    ...(system.length === 0 ? {} : { system }),
    messages: turns,
    ...(tools === undefined ? {} : { tools }),
    ...(tool_choice === undefined ? {} : { tool_choice }),
    ...stopSequences(body['stop']),
    ...sampling(body, thinking),
    ...(thinking.config === undefined ? {} : { thinking: thinking.config }),
    ...outputConfig(body['response_format'], thinking),
  };
  return { ...request, ...extraParameters(body, request) };
}

/** Fields that would change the result if they were ignored. */
function refuseInexpressible(body: JsonObject, { n }: EncodeCall): void {
  if (n > 1) throw refused('n', 'This model returns one completion per request.');
  if (body['logprobs'] === true) throw refused('logprobs', 'This model does not return log probabilities.');
  const bias = asObject(body['logit_bias']);
  if (bias && Object.keys(bias).length > 0)
    throw refused('logit_bias', 'This model does not support logit_bias.');
  for (const name of ['frequency_penalty', 'presence_penalty']) {
    if (typeof body[name] === 'number' && body[name] !== 0) {
      throw refused(name, `This model does not support ${name}.`);
    }
  }
}

/** Vertex AI has the model in the path; Vertex AI and Bedrock have the version of the API in the body. */
function hostFields({ providerModel, options: { host } }: EncodeCall): JsonObject {
  if (host !== 'vertex' && host !== 'bedrock') return { model: providerModel };
  const version = { anthropic_version: BODY_VERSIONS[host] };
  return host === 'vertex' ? version : { ...version, model: providerModel };
}

function stopSequences(stop: unknown): JsonObject {
  // The text is cut here at those of white space.
  const sent = stopsOf(stop).filter((one) => !isBlankStop(one));
  return sent.length > 0 ? { stop_sequences: sent } : {};
}

/** While the model thinks, the provider refuses other values than its own. */
function sampling(body: JsonObject, { active }: Thinking): JsonObject {
  const { temperature, top_p, top_k } = body;
  const sent: Record<string, unknown> = {};
  if (typeof temperature === 'number' && !active) {
    if (temperature > 1) throw refused('temperature', 'The temperature of this model is at most 1.');
    sent['temperature'] = temperature;
  }
  if (typeof top_p === 'number' && (!active || top_p >= MIN_TOP_P_WHILE_THINKING)) sent['top_p'] = top_p;
  if (top_k !== undefined && !active) sent['top_k'] = top_k;
  return sent;
}

function outputConfig(responseFormat: unknown, { effort }: Thinking): JsonObject {
  const format = outputFormat(asObject(responseFormat));
  if (format === undefined && effort === undefined) return {};
  return {
    output_config: {
      ...(effort === undefined ? {} : { effort }),
      ...(format === undefined ? {} : { format }),
    },
  };
}

function outputFormat(format: JsonObject | undefined): JsonObject | undefined {
  if (format === undefined || format['type'] === 'text') return undefined;
  const schema = asObject(asObject(format['json_schema'])?.['schema']);
  if (schema && isRecursive(schema))
    throw refused('response_format', 'This model does not support schemas that contain themselves.');
  if (schema) return { type: 'json_schema', schema: strictSchema(schema, strictKeywords) };
  throw refused('response_format', "This model supports JSON only as 'json_schema' with a schema.");
}

/** Fields that the operator lists as the model's own, such as "inference_geo". They are sent unchanged. */
function extraParameters(body: JsonObject, request: JsonObject): JsonObject {
  const extra = Object.entries(body).filter(([name]) => !READ_OR_DROPPED.has(name));
  for (const [name] of extra) {
    if (Object.hasOwn(request, name))
      throw refused(name, `'${name}' is set by other fields of this request.`);
  }
  return Object.fromEntries(extra);
}
