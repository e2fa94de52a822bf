import type { JsonObject, JsonValue } from '../../json/json-value';
import type { ResponseContext } from '../response-format';
import { detailsOf, isUnsigned, pack } from '../packed-reasoning';
import { customInput } from './custom-tools';

/** The JSON of fields that are always the same, without braces. */
const FIXED = JSON.stringify({
  background: false,
  instructions: null,
  max_tool_calls: null,
  previous_response_id: null,
  service_tier: 'default',
  store: false,
  tools: [],
  top_logprobs: 0,
  truncation: 'disabled',
}).slice(1, -1);

const NO_REASONING: JsonObject = { effort: null, summary: null };

/** The values of fields that the request does not set. */
const DEFAULTS: JsonObject = {
  max_output_tokens: null,
  metadata: {},
  parallel_tool_calls: true,
  prompt_cache_key: null,
  reasoning: NO_REASONING,
  safety_identifier: null,
  temperature: null,
  text: { format: { type: 'text' } },
  tool_choice: 'auto',
  top_p: null,
  user: null,
};

/** The fields that a response repeats. Instructions and tools are not among them: they are as long as prompts. */
export const repeatedFields: readonly string[] = Object.keys(DEFAULTS);

/**
 * The JSON of the fields of a response that do not change until its end, without the closing brace.
 *
 * @param created of its completion, which may be that of an earlier request.
 */
export function responseHead(context: ResponseContext, created?: JsonValue): string {
  const { generationId, createdUnixS, modelId, requested } = context;
  const { echo } = requested;
  const identity = {
    id: generationId,
    object: 'response',
    created_at: created ?? createdUnixS,
    model: modelId,
  };
  const reasoning = { ...NO_REASONING, ...(echo?.['reasoning'] as JsonObject | undefined) };
  const repeated = { ...DEFAULTS, ...echo, reasoning };
  return `${JSON.stringify(identity).slice(0, -1)},${FIXED},${JSON.stringify(repeated).slice(1, -1)}`;
}

/** The fields of a response that change until its end. */
interface ResponseState {
  readonly status: string;
  readonly error: object | null;
  readonly incomplete_details: { readonly reason: string } | null;
  readonly usage: JsonObject | null;
}

export const IN_PROGRESS: ResponseState = {
  status: 'in_progress',
  error: null,
  incomplete_details: null,
  usage: null,
};

/**
 * A response as OpenAI's SDKs type it.
 *
 * @param head from `responseHead`.
 * @param output the JSON of its items.
 */
export function responseJson(head: string, state: ResponseState, output: readonly string[]): string {
  return `${head},"output":[${output.join(',')}],${JSON.stringify(state).slice(1)}`;
}

const INCOMPLETE: ReadonlyMap<string, string> = new Map([
  ['length', 'max_output_tokens'],
  ['content_filter', 'content_filter'],
]);

/** The status of a response that has ended, or of its message. */
export function statusOf(reason: string): 'completed' | 'incomplete' {
  return INCOMPLETE.has(reason) ? 'incomplete' : 'completed';
}

/** A response that has ended. */
export function endOf(reason: string, usage: JsonObject | null): ResponseState {
  const incomplete = INCOMPLETE.get(reason);
  return {
    status: statusOf(reason),
    error: null,
    incomplete_details: incomplete === undefined ? null : { reason: incomplete },
    usage,
  };
}

/** @param usage of a chat completion. */
export function usageOf(usage: JsonObject): JsonObject {
  const { prompt_tokens: input, completion_tokens: output, total_tokens: total, cost } = usage;
  return {
    input_tokens: input ?? 0,
    input_tokens_details: usage['prompt_tokens_details'] ?? { cached_tokens: 0 },
    output_tokens: output ?? 0,
    output_tokens_details: usage['completion_tokens_details'] ?? { reasoning_tokens: 0 },
    total_tokens: total ?? 0,
    cost: cost ?? null,
  };
}

const PREFIXES = { reasoning: 'rs', message: 'msg', function_call: 'fc', custom_tool_call: 'ctc' } as const;

/** The id of an item, from its position. */
export function itemId(
  type: keyof typeof PREFIXES,
  { generationId }: ResponseContext,
  index: number,
): string {
  return `${PREFIXES[type]}_${generationId.replace(/^gen-/, '')}_${index}`;
}

/** What a reasoning item is built from. */
export interface Reasoning {
  readonly text: string;
  readonly details: readonly JsonObject[];
  /** `extra_content` of calls, by the id of the call. */
  readonly calls: JsonObject;
}

export function reasoningItem(
  id: string,
  { text, details, calls }: Reasoning,
  { requested }: ResponseContext,
): JsonObject {
  const isPacked = requested.packsReasoning === true && (details.length > 0 || Object.keys(calls).length > 0);
  return {
    id,
    type: 'reasoning',
    summary: text === '' ? [] : [{ type: 'summary_text', text }],
    ...(isPacked ? { encrypted_content: pack({ details, calls }) } : {}),
  };
}

/** @param parts the JSON of its parts. */
export function messageJson(id: string, parts: readonly string[], status: string): string {
  return `{"id":"${id}","type":"message","status":"${status}","role":"assistant","content":[${parts.join(',')}]}`;
}

/** @param body of a JSON string. */
export function partJson(kind: 'text' | 'refusal', body: string): string {
  return kind === 'text'
    ? `{"type":"output_text","text":"${body}","annotations":[],"logprobs":[]}`
    : `{"type":"refusal","refusal":"${body}"}`;
}

/** The JSON string of a text, without its quotes. */
export function jsonBody(text: string): string {
  return JSON.stringify(text).slice(1, -1);
}

/** A call, as one of a function or of a custom tool. */
export function callItem(
  call: { readonly id: string; readonly name: string; readonly arguments: string },
  index: number,
  context: ResponseContext,
  status = 'completed',
): JsonObject {
  const { id: call_id, name } = call;
  return context.requested.customTools?.includes(name)
    ? {
        id: itemId('custom_tool_call', context, index),
        type: 'custom_tool_call',
        status,
        call_id,
        name,
        input: status === 'completed' ? customInput(call.arguments) : '',
      }
    : {
        id: itemId('function_call', context, index),
        type: 'function_call',
        status,
        call_id,
        name,
        arguments: call.arguments,
      };
}

/** @param completion a chat.completion object. */
export function responseOf(completion: JsonObject, context: ResponseContext): string {
  const choice = (completion['choices'] as JsonObject[])[0] ?? {};
  const reason = choice['finish_reason'] as string;
  const output = outputOf(choice['message'] as JsonObject, context, reason);
  const ending = endOf(reason, usageOf(completion['usage'] as JsonObject));
  return responseJson(responseHead(context, completion['created']), ending, output);
}

/** The JSON of the items. */
function outputOf(message: JsonObject, context: ResponseContext, reason: string): string[] {
  const { content, refusal, reasoning_content: reasoning } = message;
  const calls = (message['tool_calls'] ?? []) as JsonObject[];
  const packs = context.requested.packsReasoning === true;
  const output: string[] = [];
  let open: Reasoning | undefined;
  const addReasoning = (more: Partial<Reasoning>) => {
    const { text = '', details = [], calls: extras = {} } = more;
    if (text === '' && (!packs || (details.length === 0 && Object.keys(extras).length === 0))) return;
    if (open) output.pop();
    open = {
      text: (open?.text ?? '') + text,
      details: [...(open?.details ?? []), ...details],
      calls: { ...open?.calls, ...extras },
    };
    const item = reasoningItem(itemId('reasoning', context, output.length), open, context);
    output.push(JSON.stringify(item));
  };
  addReasoning({ text: textIn(reasoning), details: detailsOf(message).filter((each) => !isUnsigned(each)) });
  const parts = [
    ...(textIn(content) === '' ? [] : [partJson('text', jsonBody(textIn(content)))]),
    ...(textIn(refusal) === '' ? [] : [partJson('refusal', jsonBody(textIn(refusal)))]),
  ];
  if (parts.length > 0) {
    open = undefined;
    const status = calls.length === 0 ? statusOf(reason) : 'completed';
    output.push(messageJson(itemId('message', context, output.length), parts, status));
  }
  for (const call of calls) {
    const { name, arguments: text } = call['function'] as JsonObject;
    const id = call['id'] as string;
    if (call['extra_content'] !== undefined) addReasoning({ calls: { [id]: call['extra_content'] } });
    open = undefined;
    const called = { id, name: name as string, arguments: text as string };
    output.push(JSON.stringify(callItem(called, output.length, context)));
  }
  return output;
}

function textIn(value: JsonValue | undefined): string {
  return typeof value === 'string' ? value : '';
}
