import {
  maxPlausibleImageTokens,
  maxPlausiblePromptTokens,
  type InputEstimate,
  type Usage,
} from '@gateway/base';
import type { ReportedUsage } from '../dialects/dialect';

/** The router's own data about a generation, against which reported usage is checked. */
export interface UsageContext {
  readonly input: InputEstimate;
  /** The limit that was sent to the provider, for all completions together. */
  readonly maxCompletionTokens: number;
  readonly completions: number;
  /** The part of that limit that an elastic hold covers. */
  readonly heldCompletionTokens?: number | undefined;
  /** Our own count of the output, where the report may be too low for it: see `mayBeTooLow`. */
  readonly countedCompletionTokens?: number | undefined;
  /** The input that the hold covers, of a request whose cost has a maximum. */
  readonly maxPromptTokens?: number | undefined;
  readonly contextLength: number;
  /** Whether the generation was cancelled or failed, perhaps before its output was reported. */
  readonly isCut: boolean;
  /** Whether the response had any text, reasoning or tool call. */
  readonly producedOutput: boolean;
}

/** Providers disagree on whether the token that ends a completion counts towards its limit. */
const SLACK_TOKENS_PER_COMPLETION = 16;

/**
 * How far a report may be below our own count. Providers may leave out reasoning of earlier turns, and render
 * definitions more briefly than their JSON.
 */
const LOWEST_SHARE = { promptDivisor: 10, promptTokens: 128, outputDivisor: 2, outputTokens: 16 } as const;

/** Few texts have tokens of more bytes. */
const MAX_BYTES_PER_TOKEN = 8;

/** English text has about four bytes per token, and most others fewer. */
const BYTES_PER_TOKEN = 4;

/**
 * Whether the output has to be counted before the report is accepted.
 *
 * @param outputBytes the size of the output as UTF-8
 */
export function mayBeTooLow(
  { completionTokens }: ReportedUsage,
  outputBytes: number,
  maxCompletionTokens: number,
): boolean {
  return (
    completionTokens !== undefined &&
    outputBytes > MAX_BYTES_PER_TOKEN * (completionTokens + LOWEST_SHARE.outputTokens) &&
    isOutputTooLow(completionTokens, maxCompletionTokens)
  );
}

function isOutputTooLow(completionTokens: number, countedTokens: number): boolean {
  return completionTokens * LOWEST_SHARE.outputDivisor + LOWEST_SHARE.outputTokens < countedTokens;
}

/**
 * The prompt that is charged where the provider reports more than is plausible: at least the estimate, at most what the
 * bytes that were sent make plausible.
 *
 * @param sentTextBytes the size of the request to the provider, without its images
 */
export function promptBySize(
  reportedTokens: number,
  sentTextBytes: number,
  { input, contextLength, maxPromptTokens = Infinity }: UsageContext,
): number {
  const bySize = Math.ceil(sentTextBytes / BYTES_PER_TOKEN) + maxPlausibleImageTokens(input);
  const atMost = Math.min(reportedTokens, bySize, contextLength, maxPromptTokens);
  return Math.max(input.estimatedInputTokens, atMost);
}

/** The part of a report that is known from the start of a stream. */
type InputUsage = Omit<Usage, 'completionTokens' | 'reasoningTokens'>;

/** The result of checking a provider's report. */
export type CheckedUsage =
  | { readonly kind: 'accepted'; readonly usage: Usage }
  | { readonly kind: 'missing' }
  /** A stream that was cut before its output was reported. */
  | { readonly kind: 'input_only'; readonly input: InputUsage }
  /** With the reported numbers; unreadable ones are zero. */
  | { readonly kind: 'rejected'; readonly reported: Usage };

/**
 * Checks a provider's report of usage. Parts are capped at their whole: cached tokens
 * at the prompt, then written ones at the rest of it, then image tokens, which are also
 * capped at their plausible maximum; reasoning tokens at the completion.
 *
 * The report is rejected, and usage is counted by the router, when it has
 * - numbers that are fractions or negative;
 * - no prompt tokens, more than the context window, or more than
 *   `maxPlausiblePromptTokens` allows;
 * - a small share of our own count of the prompt or the output: see LOWEST_SHARE;
 * - no completion tokens although output was produced;
 * - more completion tokens than the limit (a small excess is capped).
 *
 * Zero completion tokens are accepted when no output was produced: an estimate
 * would overcharge.
 */
export function checkUsage(report: ReportedUsage | undefined, context: UsageContext): CheckedUsage {
  if (report === undefined) return { kind: 'missing' };
  const reported = {
    promptTokens: report.promptTokens ?? 0,
    cachedTokens: report.cachedTokens ?? 0,
    cacheWriteTokens: report.cacheWriteTokens ?? 0,
    cacheWrite1hTokens: report.cacheWrite1hTokens ?? 0,
    imageTokens: report.imageTokens ?? 0,
    completionTokens: report.completionTokens ?? 0,
    reasoningTokens: report.reasoningTokens ?? 0,
  };
  if (!isPlausibleInput(reported, context)) return { kind: 'rejected', reported };
  const input = inputUsage(reported, context);
  if (report.completionTokens === undefined || !isPlausibleOutput(reported, context))
    return context.isCut ? { kind: 'input_only', input } : { kind: 'rejected', reported };
  const { maxCompletionTokens, heldCompletionTokens = Infinity } = context;
  const completionTokens = Math.min(reported.completionTokens, maxCompletionTokens, heldCompletionTokens);
  const reasoningTokens = Math.min(reported.reasoningTokens, completionTokens);
  return { kind: 'accepted', usage: { ...input, completionTokens, reasoningTokens } };
}

function inputUsage(reported: Usage, { input, maxPromptTokens = Infinity }: UsageContext): InputUsage {
  const promptTokens = Math.min(reported.promptTokens, maxPromptTokens);
  const cachedTokens = Math.min(reported.cachedTokens, promptTokens);
  const uncached = promptTokens - cachedTokens;
  const cacheWrite1hTokens = Math.min(reported.cacheWrite1hTokens, uncached);
  const cacheWriteTokens = Math.min(reported.cacheWriteTokens, uncached - cacheWrite1hTokens);
  const imageTokens = Math.min(reported.imageTokens, maxPlausibleImageTokens(input));
  return {
    promptTokens,
    cachedTokens,
    cacheWriteTokens,
    cacheWrite1hTokens,
    imageTokens: Math.min(imageTokens, uncached - cacheWrite1hTokens - cacheWriteTokens),
  };
}

function isPlausibleInput({ promptTokens }: Usage, { contextLength, input }: UsageContext): boolean {
  const textTokens = input.estimatedInputTokens - input.estimatedImageTokens;
  const isTooLow = promptTokens * LOWEST_SHARE.promptDivisor + LOWEST_SHARE.promptTokens < textTokens;
  return (
    promptTokens > 0 && !isTooLow && promptTokens <= Math.min(contextLength, maxPlausiblePromptTokens(input))
  );
}

function isPlausibleOutput(reported: Usage, context: UsageContext): boolean {
  const { maxCompletionTokens, completions, producedOutput, countedCompletionTokens = 0 } = context;
  if (reported.completionTokens === 0 && producedOutput) return false;
  if (isOutputTooLow(reported.completionTokens, countedCompletionTokens)) return false;
  return reported.completionTokens <= maxCompletionTokens + completions * SLACK_TOKENS_PER_COMPLETION;
}

/** Usage counted by the router, capped at the output limit. */
export function countedUsage(
  estimatedInputTokens: number,
  outputTokens: number,
  reasoningTokens: number,
  maxCompletionTokens: number,
): Usage {
  const completionTokens = Math.min(outputTokens, maxCompletionTokens);
  return {
    promptTokens: estimatedInputTokens,
    cachedTokens: 0,
    cacheWriteTokens: 0,
    cacheWrite1hTokens: 0,
    imageTokens: 0,
    completionTokens,
    reasoningTokens: Math.min(reasoningTokens, completionTokens),
  };
}
