import type { Usage } from '@gateway/base';
import type { ReportedUsage } from '../dialects/dialect';

/** The parts of a request's input other than the text of its messages. */
export interface InputParts {
  readonly images: number;
  /** The part of the estimate for images. */
  readonly estimatedImageTokens: number;
  /** The request has tools or a JSON schema for the response. */
  readonly hasDefinitions: boolean;
}

export interface InputEstimate extends InputParts {
  /** All input, by the model's tokenizer and factor. */
  readonly estimatedInputTokens: number;
}

/** The router's own data about a generation, against which reported usage is checked. */
export interface UsageContext {
  readonly input: InputEstimate;
  /** The limit that was sent to the provider, for all completions together. */
  readonly maxCompletionTokens: number;
  readonly completions: number;
  readonly contextLength: number;
  /** Whether the generation was cancelled or failed, perhaps before its output was reported. */
  readonly isCut: boolean;
  /** Whether the response had any text, reasoning or tool call. */
  readonly producedOutput: boolean;
}

/**
 * How far a provider's prompt count may exceed our estimate and stay plausible. This
 * is also the most by which a settlement can exceed its hold.
 *
 * Text: current tokenizers differ by less than half of this allowance; models with
 * larger differences get a factor in the catalogue. Chat templates add a few dozen
 * tokens. Definitions: providers render tools and schemas in their own way, and add
 * instructions of some hundred tokens. Images: the formulas differ most.
 */
const INPUT_TOLERANCE = {
  textFactor: 2,
  textTokens: 128,
  definitionsTextFactor: 3,
  definitionsTokens: 1_024,
  imageFactor: 3,
  tokensPerImage: 1_000,
} as const;

/** Providers disagree on whether the token that ends a completion counts towards its limit. */
const SLACK_TOKENS_PER_COMPLETION = 16;

/** The highest plausible number of prompt tokens. */
export function maxPlausiblePromptTokens(input: InputEstimate): number {
  const { textFactor, textTokens, definitionsTextFactor, definitionsTokens } = INPUT_TOLERANCE;
  const textTokenEstimate = Math.max(0, input.estimatedInputTokens - input.estimatedImageTokens);
  const maxTextTokens = input.hasDefinitions
    ? textTokenEstimate * definitionsTextFactor + textTokens + definitionsTokens
    : textTokenEstimate * textFactor + textTokens;
  return maxTextTokens + maxPlausibleImageTokens(input);
}

/** The highest plausible number of image tokens; zero without an image. */
export function maxPlausibleImageTokens({ images, estimatedImageTokens }: InputParts): number {
  return estimatedImageTokens * INPUT_TOLERANCE.imageFactor + images * INPUT_TOLERANCE.tokensPerImage;
}

/** The part of a report that is known from the start of a stream. */
type InputUsage = Omit<Usage, 'completionTokens' | 'reasoningTokens'>;

/** The result of checking a provider's report. */
export type CheckedUsage =
  | { readonly kind: 'accepted'; readonly usage: Usage }
  | { readonly kind: 'missing' }
  /** Of a stream that was cut before its output was reported. */
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
 *   {@link INPUT_TOLERANCE} allows;
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
  const completionTokens = Math.min(reported.completionTokens, context.maxCompletionTokens);
  const reasoningTokens = Math.min(reported.reasoningTokens, completionTokens);
  return { kind: 'accepted', usage: { ...input, completionTokens, reasoningTokens } };
}

function inputUsage({ promptTokens, ...reported }: Usage, { input }: UsageContext): InputUsage {
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
  return promptTokens > 0 && promptTokens <= Math.min(contextLength, maxPlausiblePromptTokens(input));
}

function isPlausibleOutput(reported: Usage, context: UsageContext): boolean {
  const { maxCompletionTokens, completions, producedOutput } = context;
  if (reported.completionTokens === 0 && producedOutput) return false;
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
