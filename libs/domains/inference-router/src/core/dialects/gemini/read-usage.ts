import { asObject, type JsonObject } from '../../completion/json';
import type { ReportedUsage } from '../dialect';

/** Adds a report of a stream to the earlier ones: a count that is missing, null or zero keeps its value. */
export function mergeUsage(earlier: JsonObject, block: JsonObject): JsonObject {
  const kept = Object.entries(earlier).filter(([name]) => (block[name] ?? 0) === 0);
  return { ...block, ...Object.fromEntries(kept) };
}

/**
 * Reads `usageMetadata`. Every report is the sum so far, and a field that is absent is zero.
 *
 * @returns undefined for a report without counts.
 */
export function readUsage(value: unknown): ReportedUsage | undefined {
  const usage = asObject(value);
  if (!usage || !hasCounts(usage)) return undefined;
  const cachedImages = tokensOf(usage['cacheTokensDetails'], 'IMAGE') ?? 0;
  const images = tokensOf(usage['promptTokensDetails'], 'IMAGE');
  const thoughts = count(usage['thoughtsTokenCount']);
  return {
    // The results of Google's own tools are input, too.
    promptTokens: sum(count(usage['promptTokenCount']), count(usage['toolUsePromptTokenCount'])),
    cachedTokens: count(usage['cachedContentTokenCount']),
    cacheWriteTokens: 0,
    cacheWrite1hTokens: 0,
    // Cached images have the price of cached tokens.
    imageTokens: images === undefined ? undefined : Math.max(0, images - cachedImages),
    completionTokens: sum(count(usage['candidatesTokenCount']), thoughts),
    reasoningTokens: thoughts,
  };
}

/** Vertex AI sends only `trafficType` until the last event. */
export function hasCounts(usage: JsonObject): boolean {
  return Object.keys(usage).some((name) => name.endsWith('TokenCount'));
}

function count(value: unknown): number | undefined {
  if (value === undefined) return 0;
  return typeof value === 'number' && Number.isSafeInteger(value) && value >= 0 ? value : undefined;
}

function sum(first: number | undefined, second: number | undefined): number | undefined {
  return first === undefined || second === undefined ? undefined : first + second;
}

/** @returns undefined when the provider does not list modalities, or lists a count that is not a whole number. */
function tokensOf(details: unknown, modality: string): number | undefined {
  if (!Array.isArray(details)) return undefined;
  let tokens: number | undefined = 0;
  for (const value of details as unknown[]) {
    const detail = asObject(value);
    if (detail?.['modality'] === modality) tokens = sum(tokens, count(detail['tokenCount']));
  }
  return tokens;
}
