import { asObject, type JsonObject } from '../../completion/json';
import type { ReportedUsage } from '../dialect';

/** Reads the usage block of a response or chunk; undefined when there is none. */
export function readUsage(block: unknown): ReportedUsage | undefined {
  if (block === undefined || block === null) return undefined;
  const usage = asObject(block) ?? {};
  const promptTokens = tokenCount(usage['prompt_tokens']);
  const completion = tokenCount(usage['completion_tokens']);
  const promptDetails = asObject(usage['prompt_tokens_details']) ?? {};
  const reasoningTokens = tokenCount(asObject(usage['completion_tokens_details'])?.['reasoning_tokens']);
  // Some providers report reasoning tokens in addition to completion tokens, as their total shows, or their number.
  const reasoning = reasoningTokens ?? 0;
  const total = tokenCount(usage['total_tokens']);
  const isReasoningExtra =
    reasoning > 0 &&
    (total === undefined
      ? reasoning > (completion ?? 0)
      : total === (promptTokens ?? 0) + (completion ?? 0) + reasoning);
  // Moonshot, DeepSeek and LiteLLM may report them outside of the details.
  const cachedTokens = firstPositive(
    promptDetails['cached_tokens'],
    usage['cached_tokens'],
    usage['prompt_cache_hit_tokens'],
    usage['cache_read_input_tokens'],
  );
  const written = firstPositive(
    promptDetails['cache_write_tokens'],
    promptDetails['cache_creation_tokens'],
    usage['cache_creation_input_tokens'],
  );
  const writtenFor1h = oneHourWrites(promptDetails, written);
  const cacheTokens = (cachedTokens ?? 0) + (written ?? 0);
  return {
    // A prompt of fewer tokens than its cached ones does not include them.
    promptTokens:
      promptTokens !== undefined && promptTokens < cacheTokens ? promptTokens + cacheTokens : promptTokens,
    cachedTokens,
    cacheWriteTokens: written === undefined ? undefined : written - (writtenFor1h ?? 0),
    cacheWrite1hTokens: writtenFor1h,
    imageTokens: tokenCount(promptDetails['image_tokens']),
    completionTokens: isReasoningExtra && completion !== undefined ? completion + reasoning : completion,
    reasoningTokens,
  };
}

/** As LiteLLM divides the written tokens by lifetime. */
function oneHourWrites(promptDetails: JsonObject, written: number | undefined): number | undefined {
  const byLifetime = asObject(promptDetails['cache_creation_token_details']);
  const tokens = tokenCount(byLifetime?.['ephemeral_1h_input_tokens']);
  return tokens === undefined || written === undefined ? undefined : Math.min(tokens, written);
}

/** A server may report a zero by one name and the count by another. */
function firstPositive(...values: readonly unknown[]): number | undefined {
  const counts = values.map(tokenCount).filter((count) => count !== undefined);
  return counts.find((count) => count > 0) ?? counts[0];
}

function tokenCount(value: unknown): number | undefined {
  return typeof value === 'number' && Number.isSafeInteger(value) && value >= 0 && value <= 0xffff_ffff
    ? value
    : undefined;
}
