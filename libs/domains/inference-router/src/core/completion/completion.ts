import { costOfUsage, usdNumber, type NanoUsd, type Prices, type Usage } from '@gateway/base';
import type { ChoiceDelta, Logprobs, ReasoningDetail } from '../dialects/dialect';
import { signedDetail, withSigner } from '../dialects/signatures';
import type { FinishReason } from './finish-reason';
import type { JsonObject } from './json';

/** The maximum number of tool calls in one completion. */
export const MAX_TOOL_CALLS = 128;

/** A tool call, possibly incomplete. */
export interface ToolCall {
  id: string;
  name: string;
  /** The model's JSON text. */
  arguments: string;
  extraContent: JsonObject | undefined;
}

/** One completion of a response. */
export interface Choice {
  readonly index: number;
  content: string | null;
  refusal: string | null;
  reasoning: string | null;
  readonly reasoningDetails: ReasoningDetail[];
  readonly toolCalls: ToolCall[];
  logprobs: Logprobs | null;
  finishReason: FinishReason | undefined;
  /** Only of requests that want it. */
  stopSequence?: string | undefined;
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
    reasoningDetails: [],
    toolCalls: [],
    logprobs: null,
    finishReason: undefined,
  };
}

/**
 * The completions of a response that is not streamed.
 *
 * @param signer added to signed parts; undefined: none.
 */
export function completionsOf(
  read: readonly ChoiceDelta[],
  head: CompletionHead,
  signer: string | undefined,
): Choice[] {
  return read.map((delta, index) => ({
    index,
    content: delta.content,
    refusal: delta.refusal,
    reasoning: delta.reasoning,
    reasoningDetails: (delta.reasoningDetails ?? []).map((detail) => signedDetail(detail, signer)),
    toolCalls: delta.toolCalls.map((call, position) => ({
      id: call.id ?? createToolCallId(head, index, position),
      name: call.name ?? '',
      arguments: call.arguments,
      extraContent: call.extraContent && withSigner(call.extraContent, signer),
    })),
    logprobs: delta.logprobs,
    finishReason: delta.finishReason ?? (delta.toolCalls.length > 0 ? 'tool_calls' : 'stop'),
    stopSequence: delta.stopSequence,
  }));
}

/** An id for a tool call without one: clients need it to send the tool's result. */
export function createToolCallId(head: CompletionHead, choice: number, call: number): string {
  return `call_${head.generationId.replace(/^gen-/, '')}_${choice}_${call}`;
}

/** Adds a detail of a stream, whose text and signature may arrive in parts. */
export function addReasoningDetail({ reasoningDetails }: Choice, detail: ReasoningDetail): void {
  const last = reasoningDetails.at(-1);
  const isPart = detail.index !== undefined && detail.type !== 'reasoning.encrypted';
  if (!last || !isPart || last.type !== detail.type || last.index !== detail.index) {
    reasoningDetails.push(detail);
    return;
  }
  const joined = { ...last, ...detail };
  for (const name of JOINED) if (last[name] !== undefined) joined[name] = last[name] + (detail[name] ?? '');
  reasoningDetails[reasoningDetails.length - 1] = joined;
}

const JOINED = ['text', 'signature', 'summary'] as const;

/** The usage block of a response, with its cost in US dollars. */
export function renderUsage(
  usage: Usage,
  prices: Prices,
): { readonly json: object; readonly costNanoUsd: NanoUsd } {
  const cost = costOfUsage(usage, prices);
  return {
    costNanoUsd: cost,
    json: {
      prompt_tokens: usage.promptTokens,
      completion_tokens: usage.completionTokens,
      total_tokens: usage.promptTokens + usage.completionTokens,
      prompt_tokens_details: {
        cached_tokens: usage.cachedTokens,
        cache_write_tokens: usage.cacheWriteTokens + usage.cacheWrite1hTokens,
      },
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
  /** The finish_reason of choices that were cut. */
  unfinished: 'stop' | 'error' | null = 'stop',
): string {
  return JSON.stringify({
    id: head.generationId,
    object: 'chat.completion',
    created: head.createdUnixS,
    model: head.modelId,
    ...(systemFingerprint === undefined ? {} : { system_fingerprint: systemFingerprint }),
    choices: choices.map((choice) => renderChoice(choice, unfinished)),
    usage,
  });
}

function renderChoice(choice: Choice, unfinished: string | null): object {
  const { toolCalls, reasoning, reasoningDetails } = choice;
  return {
    index: choice.index,
    message: {
      role: 'assistant',
      content: choice.content ?? (toolCalls.length > 0 || choice.refusal !== null ? null : ''),
      refusal: choice.refusal,
      ...(reasoning === null ? {} : { reasoning_content: reasoning }),
      ...(reasoningDetails.length === 0 ? {} : { reasoning_details: reasoningDetails }),
      ...(toolCalls.length === 0
        ? {}
        : {
            tool_calls: toolCalls.map(({ id, name, arguments: text, extraContent }) => ({
              id,
              type: 'function',
              function: { name, arguments: text },
              ...(extraContent === undefined ? {} : { extra_content: extraContent }),
            })),
          }),
    },
    logprobs: choice.logprobs,
    finish_reason: choice.finishReason ?? unfinished,
    ...(choice.stopSequence === undefined ? {} : { stop_sequence: choice.stopSequence }),
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
