import type { Usage } from '@gateway/base';
import { asObject } from '../completion/json';

/** What the router knows about a generation besides the provider's word. */
export interface UsageContext {
  /** The limit sent to the provider, for all completions together. */
  readonly maxCompletionTokens: number;
  readonly completions: number;
  readonly contextLength: number;
  /** Whether any text, reasoning or tool call came back. */
  readonly producedOutput: boolean;
}

/** Providers differ on whether the token that ends a completion counts towards its limit. */
const SLACK_TOKENS_PER_COMPLETION = 16;

/**
 * A provider's usage block, when it can be believed. Parts are cut to the
 * whole they belong to: cached and image tokens to the prompt's, reasoning
 * tokens to the completion's.
 *
 * Not believed, and so counted here instead:
 * - numbers that are no whole numbers, or below zero;
 * - no prompt tokens, or more than the model's context window;
 * - no completion tokens although something was produced;
 * - more completion tokens than the limit that was sent (a few more are cut).
 *
 * Zero completion tokens are believed when nothing was produced: an estimate
 * would overcharge.
 */
export function believedUsage(reported: unknown, context: UsageContext): Usage | undefined {
  const usage = asObject(reported);
  if (!usage) return undefined;
  const promptTokens = count(usage['prompt_tokens']);
  const completion = count(usage['completion_tokens']);
  if (promptTokens === undefined || completion === undefined) return undefined;
  if (promptTokens === 0 || promptTokens > context.contextLength) return undefined;

  const promptDetails = asObject(usage['prompt_tokens_details']) ?? {};
  const reportedReasoning = count(asObject(usage['completion_tokens_details'])?.['reasoning_tokens']) ?? 0;
  // Some providers report reasoning beside the completion; their total gives it away.
  const apart =
    reportedReasoning > 0 && count(usage['total_tokens']) === promptTokens + completion + reportedReasoning;
  const all = apart ? completion + reportedReasoning : completion;
  if (all === 0 && context.producedOutput) return undefined;
  if (all > context.maxCompletionTokens + context.completions * SLACK_TOKENS_PER_COMPLETION) return undefined;

  const completionTokens = Math.min(all, context.maxCompletionTokens);
  const cachedTokens = Math.min(count(promptDetails['cached_tokens']) ?? 0, promptTokens);
  return {
    promptTokens,
    cachedTokens,
    imageTokens: Math.min(count(promptDetails['image_tokens']) ?? 0, promptTokens - cachedTokens),
    completionTokens,
    reasoningTokens: Math.min(reportedReasoning, completionTokens),
  };
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
