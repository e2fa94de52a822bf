import type { Usage } from '@gateway/base';
import { asObject } from '../completion/json';

/** What a request's input has besides the text of its messages. */
export interface InputParts {
  readonly images: number;
  /** What of the estimate stands for images. */
  readonly estimatedImageTokens: number;
  /** Tools, or a JSON schema for the answer. */
  readonly hasDefinitions: boolean;
}

export interface InputEstimate extends InputParts {
  /** Everything, by the model's tokenizer and factor. */
  readonly estimatedInputTokens: number;
}

/** What the router knows about a generation besides the provider's word. */
export interface UsageContext {
  readonly input: InputEstimate;
  /** The limit sent to the provider, for all completions together. */
  readonly maxCompletionTokens: number;
  readonly completions: number;
  readonly contextLength: number;
  /** Whether any text, reasoning or tool call came back. */
  readonly producedOutput: boolean;
}

/**
 * How far above our estimate a provider's count of the input is believed: the
 * estimate's stated error, and the most by which a settlement can exceed its
 * hold.
 *
 * Of text, tokenizers of today differ by less than half of what is allowed here
 * (a model whose own differs by more has a factor in the catalogue), and chat
 * templates begin with a few dozen tokens of their own. Definitions of tools
 * and schemas are written out in words that only the provider knows, with
 * instructions of some hundred tokens. Of images, formulas differ most.
 */
const INPUT_TOLERANCE = {
  textFactor: 2,
  textTokens: 128,
  definitionsTextFactor: 3,
  definitionsTokens: 1_024,
  imageFactor: 3,
  tokensPerImage: 1_000,
} as const;

/** Providers differ on whether the token that ends a completion counts towards its limit. */
const SLACK_TOKENS_PER_COMPLETION = 16;

/** The most prompt tokens that are believed for an input. */
export function maxBelievedPromptTokens(input: InputEstimate): number {
  const { textFactor, textTokens, definitionsTextFactor, definitionsTokens } = INPUT_TOLERANCE;
  const ofText = Math.max(0, input.estimatedInputTokens - input.estimatedImageTokens);
  const believedText = input.hasDefinitions
    ? ofText * definitionsTextFactor + textTokens + definitionsTokens
    : ofText * textFactor + textTokens;
  return believedText + maxBelievedImageTokens(input);
}

/** The most of them that are believed to stand for images: none when no image was sent. */
export function maxBelievedImageTokens({ images, estimatedImageTokens }: InputParts): number {
  return estimatedImageTokens * INPUT_TOLERANCE.imageFactor + images * INPUT_TOLERANCE.tokensPerImage;
}

/** What became of a provider's usage block. */
export type JudgedUsage =
  | { readonly kind: 'believed'; readonly usage: Usage }
  | { readonly kind: 'missing' }
  /** With what it said, as far as it can be read; what it cannot is zero. */
  | { readonly kind: 'not_believed'; readonly reported: Usage };

/**
 * Judges a provider's usage block. Parts are cut to the whole they belong to:
 * cached and image tokens to the prompt's, image tokens also to what the images
 * can have come to, reasoning tokens to the completion's.
 *
 * Not believed, and so counted here instead:
 * - numbers that are no whole numbers, or below zero;
 * - no prompt tokens, more than the model's context window, or more than our
 *   estimate allows ({@link INPUT_TOLERANCE});
 * - no completion tokens although something was produced;
 * - more completion tokens than the limit that was sent (a few more are cut).
 *
 * Zero completion tokens are believed when nothing was produced: an estimate
 * would overcharge.
 */
export function judgeUsage(reported: unknown, context: UsageContext): JudgedUsage {
  if (reported === undefined || reported === null) return { kind: 'missing' };
  const usage = asObject(reported) ?? {};
  const promptTokens = count(usage['prompt_tokens']);
  const completion = count(usage['completion_tokens']);
  const promptDetails = asObject(usage['prompt_tokens_details']) ?? {};
  const reasoning = count(asObject(usage['completion_tokens_details'])?.['reasoning_tokens']) ?? 0;
  // Some providers report reasoning beside the completion; their total gives it away.
  const apart =
    reasoning > 0 && count(usage['total_tokens']) === (promptTokens ?? 0) + (completion ?? 0) + reasoning;
  const said = {
    promptTokens: promptTokens ?? 0,
    cachedTokens: count(promptDetails['cached_tokens']) ?? 0,
    imageTokens: count(promptDetails['image_tokens']) ?? 0,
    completionTokens: (completion ?? 0) + (apart ? reasoning : 0),
    reasoningTokens: reasoning,
  };
  const isReadable = promptTokens !== undefined && completion !== undefined;
  if (!isReadable || !isBelievable(said, context)) return { kind: 'not_believed', reported: said };

  const completionTokens = Math.min(said.completionTokens, context.maxCompletionTokens);
  const cachedTokens = Math.min(said.cachedTokens, said.promptTokens);
  const imageTokens = Math.min(said.imageTokens, maxBelievedImageTokens(context.input));
  return {
    kind: 'believed',
    usage: {
      promptTokens: said.promptTokens,
      cachedTokens,
      imageTokens: Math.min(imageTokens, said.promptTokens - cachedTokens),
      completionTokens,
      reasoningTokens: Math.min(said.reasoningTokens, completionTokens),
    },
  };
}

function isBelievable(said: Usage, context: UsageContext): boolean {
  const { maxCompletionTokens, completions, contextLength, producedOutput, input } = context;
  const maxPromptTokens = Math.min(contextLength, maxBelievedPromptTokens(input));
  if (said.promptTokens === 0 || said.promptTokens > maxPromptTokens) return false;
  if (said.completionTokens === 0 && producedOutput) return false;
  return said.completionTokens <= maxCompletionTokens + completions * SLACK_TOKENS_PER_COMPLETION;
}

/** Usage counted here: never above the limit that the caller agreed to. */
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
    imageTokens: 0,
    completionTokens,
    reasoningTokens: Math.min(reasoningTokens, completionTokens),
  };
}

function count(value: unknown): number | undefined {
  return typeof value === 'number' && Number.isSafeInteger(value) && value >= 0 && value <= 0xffff_ffff
    ? value
    : undefined;
}
