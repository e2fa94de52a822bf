import { costOfUsage, usdNumber, type NanoUsd, type Prices, type Usage } from '@gateway/base';
import type { FinishReason } from './finish-reason';

/** A tool call of an answer, as far as it has come. */
interface ToolCall {
  id: string;
  name: string;
  /** JSON text, as the model wrote it. */
  arguments: string;
}

export interface Logprobs {
  content: unknown[] | null;
  refusal: unknown[] | null;
}

/** One completion of an answer. */
export interface Choice {
  readonly index: number;
  content: string | null;
  refusal: string | null;
  reasoning: string | null;
  readonly toolCalls: ToolCall[];
  logprobs: Logprobs | null;
  finishReason: FinishReason | undefined;
}

/** What of a system_fingerprint is passed on: bounded, and nothing that a terminal or log takes amiss. */
const PASSED_FINGERPRINT = /^[\x20-\x7e]{1,128}$/;

/**
 * A provider's system_fingerprint: which build of what served the request.
 *
 * @returns undefined when there is none, or none that is short and printable.
 */
export function readSystemFingerprint(value: unknown): string | undefined {
  return typeof value === 'string' && PASSED_FINGERPRINT.test(value) ? value : undefined;
}

/** The fields that every answer of one generation repeats. */
export interface CompletionHead {
  readonly generationId: string;
  readonly createdUnixS: number;
  readonly modelId: string;
}

export function emptyChoice(index: number): Choice {
  return {
    index,
    content: null,
    refusal: null,
    reasoning: null,
    toolCalls: [],
    logprobs: null,
    finishReason: undefined,
  };
}

/** The usage block of an answer, with its cost in US dollars. */
export function renderUsage(usage: Usage, prices: Prices): { readonly json: object; readonly cost: NanoUsd } {
  const cost = costOfUsage(usage, prices);
  return {
    cost,
    json: {
      prompt_tokens: usage.promptTokens,
      completion_tokens: usage.completionTokens,
      total_tokens: usage.promptTokens + usage.completionTokens,
      prompt_tokens_details: { cached_tokens: usage.cachedTokens },
      completion_tokens_details: { reasoning_tokens: usage.reasoningTokens },
      cost: usdNumber(cost),
    },
  };
}

/** The chat.completion object as JSON text. */
export function renderCompletion(
  head: CompletionHead,
  choices: readonly Choice[],
  usage: object,
  systemFingerprint?: string,
): string {
  return JSON.stringify({
    id: head.generationId,
    object: 'chat.completion',
    created: head.createdUnixS,
    model: head.modelId,
    ...(systemFingerprint === undefined ? {} : { system_fingerprint: systemFingerprint }),
    choices: choices.map(renderChoice),
    usage,
  });
}

function renderChoice(choice: Choice): object {
  const { toolCalls, reasoning } = choice;
  return {
    index: choice.index,
    message: {
      role: 'assistant',
      content: choice.content ?? (toolCalls.length > 0 || choice.refusal !== null ? null : ''),
      refusal: choice.refusal,
      ...(reasoning === null ? {} : { reasoning_content: reasoning }),
      ...(toolCalls.length === 0
        ? {}
        : {
            tool_calls: toolCalls.map(({ id, name, arguments: text }) => ({
              id,
              type: 'function',
              function: { name, arguments: text },
            })),
          }),
    },
    logprobs: choice.logprobs,
    finish_reason: choice.finishReason ?? 'stop',
  };
}

export interface OutputTexts {
  readonly visible: readonly string[];
  readonly reasoning: readonly string[];
}

/** Everything the model wrote, for counting its tokens. */
export function outputTexts(choices: readonly Choice[]): OutputTexts {
  const visible: string[] = [];
  const reasoning: string[] = [];
  for (const choice of choices) {
    if (choice.content) visible.push(choice.content);
    if (choice.refusal) visible.push(choice.refusal);
    if (choice.reasoning) reasoning.push(choice.reasoning);
    for (const call of choice.toolCalls) visible.push(call.name + call.arguments);
  }
  return { visible, reasoning };
}
