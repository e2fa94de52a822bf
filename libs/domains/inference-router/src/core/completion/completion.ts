import { costOfUsage, usdNumber, type NanoUsd, type Prices, type Usage } from '@gateway/base';
import type { FinishReason } from './finish-reason';

/** A tool call, possibly incomplete. */
interface ToolCall {
  id: string;
  name: string;
  /** The model's JSON text. */
  arguments: string;
}

export interface Logprobs {
  content: unknown[] | null;
  refusal: unknown[] | null;
}

/** One completion of a response. */
export interface Choice {
  readonly index: number;
  content: string | null;
  refusal: string | null;
  reasoning: string | null;
  readonly toolCalls: ToolCall[];
  logprobs: Logprobs | null;
  finishReason: FinishReason | undefined;
}

/** Fingerprints that are passed on: bounded, and safe for terminals and logs. */
const PASSED_FINGERPRINT = /^[\x20-\x7e]{1,128}$/;

/**
 * A provider's system_fingerprint, which identifies its backend configuration.
 *
 * @returns undefined when it is missing, too long or not printable ASCII.
 */
export function readSystemFingerprint(value: unknown): string | undefined {
  return typeof value === 'string' && PASSED_FINGERPRINT.test(value) ? value : undefined;
}

/** The fields that are equal in every chunk and response of a generation. */
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

/** The usage block of a response, with its cost in US dollars. */
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

/** All model output, for counting its tokens. */
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
