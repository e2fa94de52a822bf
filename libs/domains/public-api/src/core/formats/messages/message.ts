import { isJsonObject, type JsonObject, type JsonValue } from '../../json/json-value';
import type { ResponseContext } from '../response-format';
import { detailsOf, isUnsigned, pack } from '../packed-reasoning';

/** A message as Anthropic's SDKs type it. Fields that the gateway has no value for are null. */
export function messageHead({ generationId, modelId }: ResponseContext): JsonObject {
  return {
    id: generationId,
    type: 'message',
    role: 'assistant',
    model: modelId,
    content: [],
    container: null,
    diagnostics: null,
    stop_reason: null,
    stop_sequence: null,
    stop_details: null,
  };
}

/** The tokens of a stream that starts: the input is our estimate, which the last event replaces. */
export function firstUsage({ estimatedInputTokens }: ResponseContext): JsonObject {
  return { ...tokens(estimatedInputTokens, 0, 0, 0), ...UNUSED };
}

/** @param usage of a chat completion. */
function wholeUsage(usage: JsonObject): JsonObject {
  return { ...cumulativeUsage(usage), ...UNUSED };
}

/** As in the last event of a stream, plus the cost in US dollars. */
export function cumulativeUsage(usage: JsonObject): JsonObject {
  const of = (name: string) => (isJsonObject(usage[name]) ? usage[name] : {});
  const { cached_tokens: read = 0, cache_write_tokens: written = 0 } = of('prompt_tokens_details');
  const { reasoning_tokens: thinking = 0 } = of('completion_tokens_details');
  const input = (usage['prompt_tokens'] as number) - (read as number) - (written as number);
  return {
    ...tokens(input, written as number, read as number, usage['completion_tokens'] as number),
    output_tokens_details: { thinking_tokens: thinking },
    server_tool_use: null,
    cost: usage['cost'] ?? null,
  };
}

function tokens(input: number, written: number, read: number, output: number): JsonObject {
  return {
    input_tokens: input,
    cache_creation_input_tokens: written,
    cache_read_input_tokens: read,
    output_tokens: output,
  };
}

const UNUSED: JsonObject = {
  cache_creation: null,
  inference_geo: null,
  service_tier: 'standard',
  speed: null,
};

const STOP_REASONS: Readonly<Record<string, string>> = {
  stop: 'end_turn',
  length: 'max_tokens',
  tool_calls: 'tool_use',
  content_filter: 'refusal',
};

/**
 * How a message ends.
 *
 * @param stopSequence empty where the provider does not say which.
 * @param requested the stop sequences of the request.
 */
export function stopOf(
  reason: string,
  stopSequence: string | undefined,
  requested: readonly string[] = [],
): JsonObject {
  const isStopped = reason === 'stop' && stopSequence !== undefined;
  const only = requested.length === 1 ? requested[0] : undefined;
  const stop_reason = isStopped ? 'stop_sequence' : (STOP_REASONS[reason] ?? 'end_turn');
  return {
    stop_reason,
    stop_sequence: isStopped ? stopSequence || (only ?? null) : null,
    stop_details: stop_reason === 'refusal' ? { type: 'refusal', category: null, explanation: null } : null,
  };
}

/** A signed part of the reasoning as a block. */
export function signedBlock(detail: JsonObject): JsonObject {
  const { type, text, signature, data, index: _, ...rest } = detail;
  const isPlain = Object.keys(rest).length === 0;
  if (type === 'reasoning.text' && typeof signature === 'string') {
    const { text: __, ...hidden } = detail;
    const packed = isPlain ? signature : pack({ details: [hidden] });
    return { type: 'thinking', thinking: typeof text === 'string' ? text : '', signature: packed };
  }
  if (type === 'reasoning.encrypted' && typeof data === 'string' && isPlain)
    return { type: 'redacted_thinking', data };
  return { type: 'redacted_thinking', data: pack({ details: [detail] }) };
}

export function extraBlock(id: string, extra: JsonValue): JsonObject {
  return { type: 'redacted_thinking', data: pack({ calls: { [id]: extra } }) };
}

export function toolUseBlock(id: string, name: string, input: JsonObject): JsonObject {
  return { type: 'tool_use', id, name, input, caller: { type: 'direct' } };
}

/** @param completion a chat.completion object. */
export function messageOf(completion: JsonObject, context: ResponseContext): JsonObject {
  const choice = (completion['choices'] as JsonObject[])[0] ?? {};
  const { finish_reason: reason, stop_sequence: stop } = choice;
  return {
    ...messageHead(context),
    content: contentOf(choice['message'] as JsonObject),
    ...stopOf(reason as string, typeof stop === 'string' ? stop : undefined, context.requested.stopSequences),
    usage: wholeUsage(completion['usage'] as JsonObject),
  };
}

function contentOf(message: JsonObject): JsonObject[] {
  const { content, refusal, reasoning_content: reasoning, tool_calls: calls } = message;
  const signed = detailsOf(message)
    .filter((detail) => !isUnsigned(detail))
    .map(signedBlock);
  const isReadable = signed.some(({ type }) => type === 'thinking');
  const blocks: JsonObject[] = [];
  if (typeof reasoning === 'string' && reasoning !== '' && !isReadable)
    blocks.push({ type: 'thinking', thinking: reasoning, signature: '' });
  blocks.push(...signed);
  const text = textOf(content) + textOf(refusal);
  if (text !== '') blocks.push({ type: 'text', text, citations: null });
  for (const call of (calls ?? []) as JsonObject[]) {
    const { name, arguments: input } = call['function'] as JsonObject;
    const id = call['id'] as string;
    if (call['extra_content'] !== undefined) blocks.push(extraBlock(id, call['extra_content']));
    blocks.push(toolUseBlock(id, name as string, inputOf(input as string)));
  }
  return blocks;
}

function textOf(value: JsonValue | undefined): string {
  return typeof value === 'string' ? value : '';
}

/** Arguments that are no object become one, as in a later request. */
function inputOf(text: string): JsonObject {
  try {
    const value: unknown = JSON.parse(text === '' ? '{}' : text);
    if (isJsonObject(value)) return value;
  } catch {
    // A call that was cut off.
  }
  return { arguments: text };
}
