import { asObject } from '../../completion/json';
import type { ReportedUsage } from '../dialect';

/** Reads the usage block of a response or chunk; undefined when there is none. */
export function readUsage(block: unknown): ReportedUsage | undefined {
  if (block === undefined || block === null) return undefined;
  const usage = asObject(block) ?? {};
  const promptTokens = tokenCount(usage['prompt_tokens']);
  const completion = tokenCount(usage['completion_tokens']);
  const promptDetails = asObject(usage['prompt_tokens_details']) ?? {};
  const reasoningTokens = tokenCount(asObject(usage['completion_tokens_details'])?.['reasoning_tokens']);
  // Some providers report reasoning tokens in addition to completion tokens, as their total shows.
  const reasoning = reasoningTokens ?? 0;
  const isReasoningExtra =
    reasoning > 0 &&
    tokenCount(usage['total_tokens']) === (promptTokens ?? 0) + (completion ?? 0) + reasoning;
  return {
    promptTokens,
    // Moonshot and DeepSeek may report them outside of the details.
    cachedTokens: tokenCount(
      promptDetails['cached_tokens'] ?? usage['cached_tokens'] ?? usage['prompt_cache_hit_tokens'],
    ),
    cacheWriteTokens: tokenCount(promptDetails['cache_write_tokens']),
    cacheWrite1hTokens: undefined,
    imageTokens: tokenCount(promptDetails['image_tokens']),
    completionTokens: isReasoningExtra && completion !== undefined ? completion + reasoning : completion,
    reasoningTokens,
  };
}

function tokenCount(value: unknown): number | undefined {
  return typeof value === 'number' && Number.isSafeInteger(value) && value >= 0 && value <= 0xffff_ffff
    ? value
    : undefined;
}
