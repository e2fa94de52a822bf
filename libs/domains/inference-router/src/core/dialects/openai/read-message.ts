import { MAX_TOOL_CALLS } from '../../completion/completion';
import { asObject, nonEmptyText, type JsonObject } from '../../completion/json';
import { UpstreamFailure } from '../../failure/upstream-failure';
import { reasoningTypes, type Logprobs, type ReasoningDetail, type ToolCallDelta } from '../dialect';

/** The text of a message or delta: a string, or the joined text parts of an array. Null when there is none. */
export function readText(value: unknown): string | null {
  if (typeof value === 'string') return value;
  if (!Array.isArray(value)) return null;
  const texts = value.map((part) => asObject(part)?.['text']).filter((text) => typeof text === 'string');
  return texts.length > 0 ? texts.join('') : null;
}

/**
 * The content of a message or delta.
 *
 * @throws UpstreamFailure when the content is neither text nor null.
 */
export function readContent(value: unknown): string | null {
  if (value !== null && value !== undefined && typeof value !== 'string' && !Array.isArray(value)) {
    throw new UpstreamFailure('failed', {
      detail: `the provider sent content of type ${typeof value}`,
    });
  }
  return readText(value);
}

/** Reasoning text, under either of its common names, in details, or in parts of the content as Mistral sends it. */
export function readReasoning(message: JsonObject): string | null {
  return (
    readText(message['reasoning_content']) ??
    readText(message['reasoning']) ??
    readText(message['reasoning_details']) ??
    readThinking(message['content'])
  );
}

/** As OpenRouter sends them, which needs them back unchanged. */
export function readReasoningDetails(message: JsonObject): { reasoningDetails?: readonly ReasoningDetail[] } {
  const listed: unknown = message['reasoning_details'];
  if (!Array.isArray(listed) || listed.length === 0) return {};
  const details = listed.flatMap((value: unknown): ReasoningDetail[] => {
    const detail = asObject(value) ?? {};
    const type = reasoningTypes.find((each) => each === detail['type']);
    if (!type) return [];
    const { index } = detail;
    const texts = DETAIL_TEXTS.filter((name) => typeof detail[name] === 'string');
    return [
      {
        type,
        ...(typeof index === 'number' ? { index } : {}),
        ...Object.fromEntries(texts.map((name) => [name, detail[name]])),
      },
    ];
  });
  return { reasoningDetails: details };
}

const DETAIL_TEXTS = ['text', 'signature', 'summary', 'data', 'id', 'format'] as const;

function readThinking(content: unknown): string | null {
  if (!Array.isArray(content)) return null;
  const texts = content.map((part) => readText(asObject(part)?.['thinking']));
  return texts.join('') || null;
}

/** A tool call as a server sends it. Some servers send no index. */
export interface ReadToolCall extends Omit<ToolCallDelta, 'index'> {
  readonly index: number | undefined;
}

export function readToolCalls(message: JsonObject): readonly ReadToolCall[] {
  const calls = message['tool_calls'];
  if (!Array.isArray(calls)) return [];
  return calls.slice(0, MAX_TOOL_CALLS).flatMap((value: unknown): ReadToolCall[] => {
    const call = asObject(value);
    if (!call) return [];
    const called = asObject(call['function']) ?? {};
    const extraContent = asObject(call['extra_content']);
    return [
      {
        index: indexOf(call['index']),
        id: nonEmptyText(call['id']),
        name: nonEmptyText(called['name']),
        arguments: argumentsText(called['arguments']),
        extraContent,
      },
    ];
  });
}

export function readLogprobs(choice: JsonObject): Logprobs | null {
  const logprobs = asObject(choice['logprobs']);
  if (!logprobs) return null;
  const { content, refusal } = logprobs;
  return {
    content: Array.isArray(content) ? content : null,
    refusal: Array.isArray(refusal) ? refusal : null,
  };
}

/** Some servers send the arguments as an object; clients expect JSON text. */
function argumentsText(value: unknown): string {
  if (typeof value === 'string') return value;
  return value === undefined || value === null ? '' : JSON.stringify(value);
}

function indexOf(value: unknown): number | undefined {
  return typeof value === 'number' && Number.isInteger(value) && value >= 0 && value < MAX_TOOL_CALLS
    ? value
    : undefined;
}
