import { asObject, type JsonObject } from '../../completion/json';
import type { ReportedUsage } from '../dialect';

/**
 * Reads the `usage` of a response or a `metadata` event. Bedrock's `inputTokens` leave out the tokens that were read from
 * or written to the cache; its `outputTokens` include reasoning, whose tokens are not reported separately.
 */
export function readUsage(usage: JsonObject): ReportedUsage {
  const input = countOf(usage['inputTokens']);
  const cached = countOf(usage['cacheReadInputTokens']);
  const written = countOf(usage['cacheWriteInputTokens']);
  const writtenFor1h =
    written === undefined ? undefined : Math.min(written, oneHourWrites(usage['cacheDetails']));
  return {
    promptTokens: input === undefined ? undefined : input + (cached ?? 0) + (written ?? 0),
    cachedTokens: cached,
    cacheWriteTokens: written === undefined ? undefined : written - (writtenFor1h ?? 0),
    cacheWrite1hTokens: writtenFor1h,
    imageTokens: undefined,
    completionTokens: countOf(usage['outputTokens']),
    reasoningTokens: undefined,
  };
}

/** Streams of OpenAI's models include the cached tokens in `inputTokens`, as was measured in public; whole responses do not. */
export function readStreamUsageOfOpenAi(usage: JsonObject): ReportedUsage {
  const read = readUsage(usage);
  const input = countOf(usage['inputTokens']) ?? 0;
  const cached =
    (countOf(usage['cacheReadInputTokens']) ?? 0) + (countOf(usage['cacheWriteInputTokens']) ?? 0);
  return input >= cached && read.promptTokens !== undefined ? { ...read, promptTokens: input } : read;
}

/** `cacheDetails` divides the written tokens by lifetime; it may be absent. */
function oneHourWrites(details: unknown): number {
  if (!Array.isArray(details)) return 0;
  let tokens = 0;
  for (const value of details as unknown[]) {
    const detail = asObject(value);
    if (detail?.['ttl'] === '1h') tokens += countOf(detail['inputTokens']) ?? 0;
  }
  return tokens;
}

function countOf(value: unknown): number | undefined {
  return typeof value === 'number' && Number.isSafeInteger(value) && value >= 0 ? value : undefined;
}
