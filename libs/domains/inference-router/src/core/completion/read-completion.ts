import type { UpstreamFailure } from '../failure/upstream-failure';
import { emptyChoice, type Choice, type CompletionHead } from './completion';
import { failureIn } from './failed-choice';
import { finishReasonOf } from './finish-reason';
import { asObject, type JsonObject } from './json';
import { readContent, readLogprobs, readReasoning, readText, readToolCalls } from './read-message';

/**
 * Reads the completions of a provider's chat.completion object and drops unknown fields.
 *
 * @param n the requested number; further completions are dropped.
 * @param errorOf maps an error object in a choice.
 * @returns undefined when the object has no completion.
 * @throws UpstreamFailure when a completion failed or its content is not text.
 */
export function readCompletion(
  response: unknown,
  head: CompletionHead,
  n: number,
  errorOf: (holder: unknown) => UpstreamFailure | undefined,
): Choice[] | undefined {
  const listed = asObject(response)?.['choices'];
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
      id: call.id ?? createToolCallId(head, index, read.toolCalls.length),
      name: call.name ?? '',
      arguments: call.arguments,
    });
  }
  read.finishReason =
    finishReasonOf(choice['finish_reason']) ?? (read.toolCalls.length > 0 ? 'tool_calls' : 'stop');
  return read;
}

/** An id for a tool call without one: clients need it to send the tool's result. */
export function createToolCallId(head: CompletionHead, choice: number, call: number): string {
  return `call_${head.generationId.replace(/^gen-/, '')}_${choice}_${call}`;
}
