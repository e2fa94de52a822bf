import { asObject, parseJson, type JsonObject } from '../../completion/json';
import { malformed } from '../failures';
import type { ChoiceDelta, DecodedEvent, EventDecoder, EventTemplate, ProviderError } from '../dialect';
import { readErrorObject } from './classify-error';
import { errorOfFinish, finishReasonOf } from './finish-reason';
import {
  readContent,
  readLogprobs,
  readReasoning,
  readReasoningDetails,
  readText,
  readToolCalls,
} from './read-message';
import { readUsage } from './read-usage';
import { ToolCallPositions } from './tool-call-positions';

const NONE: readonly ChoiceDelta[] = [];
const DONE: DecodedEvent = { choices: NONE, done: true };

const CONTENT_KEYS = ['"content":"', '"content": "'] as const;

export function createDecoder(n: number): EventDecoder {
  const toolCalls = new ToolCallPositions();
  return { decode: (data) => decodeEvent(data, n, toolCalls), templateOf };
}

function decodeEvent(data: string, n: number, toolCalls: ToolCallPositions): DecodedEvent {
  if (data.startsWith('[DONE]')) return DONE;
  const chunk = asObject(parseJson(data));
  if (!chunk) throw malformed('a chunk that is not a JSON object');
  const error = readErrorObject(chunk);
  if (error) return { choices: NONE, error };
  const listed = chunk['choices'];
  const usage = readUsage(asObject(chunk['usage']) ?? usageOfChoice(listed, n));
  if (!Array.isArray(listed) && !usage) throw malformed('a chunk without choices');
  const event = {
    systemFingerprint: chunk['system_fingerprint'],
    usage,
  };
  const choices: ChoiceDelta[] = [];
  for (const value of Array.isArray(listed) ? (listed as unknown[]) : []) {
    const choice = asObject(value);
    if (!choice) throw malformed('a choice that is not an object');
    const index = indexOf(choice);
    if (index >= n) continue;
    const failed = errorOfChoice(choice);
    if (failed) return { ...event, choices: NONE, error: failed };
    choices.push(readDelta(choice, index, toolCalls));
  }
  return { ...event, choices };
}

/** Moonshot reports the usage of a stream in its last choice. Of several completions, each has its own. */
function usageOfChoice(listed: unknown, n: number): JsonObject | undefined {
  return Array.isArray(listed) && n === 1 ? asObject(asObject(listed[0])?.['usage']) : undefined;
}

/** The failure of a completion, reported as an error object or a finish_reason. */
export function errorOfChoice(choice: JsonObject): ProviderError | undefined {
  return readErrorObject(choice) ?? errorOfFinish(choice['finish_reason']);
}

function indexOf(choice: JsonObject): number {
  const index = choice['index'] ?? 0;
  if (typeof index !== 'number' || !Number.isInteger(index) || index < 0) {
    throw malformed('a choice with a wrong index');
  }
  return index;
}

function readDelta(choice: JsonObject, index: number, toolCalls: ToolCallPositions): ChoiceDelta {
  const delta = asObject(choice['delta']) ?? asObject(choice['message']) ?? {};
  return {
    index,
    content: readContent(delta['content']),
    refusal: readText(delta['refusal']),
    reasoning: readReasoning(delta),
    ...readReasoningDetails(delta),
    toolCalls: toolCalls.positioned(index, readToolCalls(delta)),
    logprobs: readLogprobs(choice),
    finishReason: finishReasonOf(choice['finish_reason']),
  };
}

/** Most chunks of a stream differ only in the string `delta.content`. */
function templateOf(data: string): EventTemplate | undefined {
  for (const key of CONTENT_KEYS) {
    const at = data.indexOf(key);
    if (at === -1) continue;
    const start = at + key.length;
    const end = endOfString(data, start);
    if (end === -1) return undefined;
    return plainTemplate(data.slice(0, start), data.slice(end));
  }
  return undefined;
}

function endOfString(data: string, start: number): number {
  for (let at = start; at < data.length; at += 1) {
    const character = data.charCodeAt(at);
    if (character === 92 /* \ */) at += 1;
    else if (character === 34 /* " */) return at;
  }
  return -1;
}

function isNothing(value: unknown): boolean {
  return value === null || value === '' || (Array.isArray(value) && value.length === 0);
}

/** Tests the template with a probe: the string is `delta.content`, and no other field has a value that matters. */
function plainTemplate(before: string, after: string): EventTemplate | undefined {
  const probe = 'probe';
  const chunk = asObject(parseJson(before + probe + after));
  const choices = chunk?.['choices'];
  if (!chunk || chunk['usage'] || chunk['error'] || !Array.isArray(choices) || choices.length !== 1) {
    return undefined;
  }
  const choice = asObject(choices[0]);
  const delta = asObject(choice?.['delta']);
  if (!choice || !delta || choice['logprobs'] || choice['finish_reason'] || choice['usage']) return undefined;
  const isPlain = Object.entries(delta).every(([name, value]) =>
    name === 'content' ? value === probe : name === 'role' || isNothing(value),
  );
  return isPlain ? { before, after, index: indexOf(choice) } : undefined;
}
