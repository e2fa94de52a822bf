import { emptyChoice, type Choice, type CompletionHead } from './completion';
import { finishReasonOf } from './finish-reason';
import { asObject, type JsonObject } from './json';
import { readLogprobs, readReasoning, readText, readToolCalls } from './read-message';

/**
 * The completions of a provider's chat.completion object, without whatever
 * else the provider put there.
 *
 * @param n how many the caller asked for; more are left out.
 * @returns undefined when the object holds no completion.
 */
export function readCompletion(answer: unknown, head: CompletionHead, n: number): Choice[] | undefined {
  const listed = asObject(answer)?.['choices'];
  if (!Array.isArray(listed) || listed.length === 0) return undefined;
  const choices: Choice[] = [];
  for (const value of listed.slice(0, n) as unknown[]) {
    const choice = asObject(value);
    const message = asObject(choice?.['message']);
    if (!choice || !message) return undefined;
    choices.push(readChoice(choice, message, choices.length, head));
  }
  return choices;
}

function readChoice(choice: JsonObject, message: JsonObject, index: number, head: CompletionHead): Choice {
  const read = emptyChoice(index);
  read.content = readText(message['content']);
  read.refusal = readText(message['refusal']);
  read.reasoning = readReasoning(message);
  read.logprobs = readLogprobs(choice);
  for (const call of readToolCalls(message)) {
    read.toolCalls.push({
      id: call.id ?? inventedToolCallId(head, index, read.toolCalls.length),
      name: call.name ?? '',
      arguments: call.arguments,
    });
  }
  read.finishReason =
    finishReasonOf(choice['finish_reason']) ?? (read.toolCalls.length > 0 ? 'tool_calls' : 'stop');
  return read;
}

/** For servers that name no tool call id: callers need one to answer the call. */
export function inventedToolCallId(head: CompletionHead, choice: number, call: number): string {
  return `call_${head.generationId.replace(/^gen-/, '')}_${choice}_${call}`;
}
