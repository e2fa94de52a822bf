import { asObject, type JsonObject } from '../../completion/json';
import type { ChoiceDelta, ReadResponse } from '../dialect';
import { readErrorObject } from './classify-error';
import { errorOfChoice } from './decode-event';
import { finishReasonOf } from './finish-reason';
import {
  readContent,
  readLogprobs,
  readReasoning,
  readReasoningDetails,
  readText,
  readToolCalls,
} from './read-message';
import { readUsage } from './read-usage';

/** Reads a chat.completion object and drops unknown fields. */
export function readResponse(response: JsonObject, n: number): ReadResponse {
  const error = readErrorObject(response);
  if (error) return { choices: [], usage: undefined, error };
  const usage = readUsage(response['usage']);
  const read = { usage, systemFingerprint: response['system_fingerprint'] };
  const listed = response['choices'];
  const choices: ChoiceDelta[] = [];
  for (const value of Array.isArray(listed) ? listed.slice(0, n) : []) {
    const choice = asObject(value);
    const failed = choice && errorOfChoice(choice);
    if (failed) return { ...read, choices: [], error: failed };
    const message = asObject(choice?.['message']);
    if (!choice || !message) return { ...read, choices: [] };
    choices.push({
      index: choices.length,
      content: readContent(message['content']),
      refusal: readText(message['refusal']),
      reasoning: readReasoning(message),
      ...readReasoningDetails(message),
      toolCalls: readToolCalls(message).map((call, position) => ({ ...call, index: position })),
      logprobs: readLogprobs(choice),
      finishReason: finishReasonOf(choice['finish_reason']),
    });
  }
  return { ...read, choices };
}
