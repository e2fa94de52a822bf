import type { UpstreamFailure } from '../failure/upstream-failure';
import { emptyChoice, type Choice, type CompletionHead } from './completion';
import { failureIn } from './failed-choice';
import { finishReasonOf } from './finish-reason';
import { asObject, type JsonObject } from './json';
import { readContent, readLogprobs, readReasoning, readText, readToolCalls } from './read-message';

/**
 * The completions of a provider's chat.completion object, without whatever
 * else the provider put there.
 *
 * @param n how many the caller asked for; more are left out.
 * @param errorOf what an error object in a choice means.
 * @returns undefined when the object holds no completion.
 * @throws UpstreamFailure when one of them ended with a failure or is no text.
 */
export function readCompletion(
  answer: unknown,
  head: CompletionHead,
  n: number,
  errorOf: (holder: unknown) => UpstreamFailure | undefined,
): Choice[] | undefined {
  const listed = asObject(answer)?.['choices'];
  if (!Array.isArray(listed) || listed.length === 0) return undefined;
  const choices: Choice[] = [];
  for (const value of listed.slice(0, n) as unknown[]) {
    const choice = asObject(value);
    const message = asObject(choice?.['message']);
    const failure = choice && failureIn(choice, errorOf);
    if (failure) throw failure;
    if (!choice || !message) return undefined;
    choices.push(readChoice(choice, message, choices.length, head));
  }
  return choices;
}

function readChoice(choice: JsonObject, message: JsonObject, index: number, head: CompletionHead): Choice {
  const read = emptyChoice(index);
  read.content = readContent(message['content']);
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
