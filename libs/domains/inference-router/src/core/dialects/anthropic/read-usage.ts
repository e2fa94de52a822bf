import { asObject, type JsonObject } from '../../completion/json';
import type { ReportedUsage } from '../dialect';

/** The counts of a usage block. Input, cache reads and cache writes are disjoint. */
export interface UsageReport {
  readonly inputTokens: number | undefined;
  readonly cacheReadTokens: number | undefined;
  /** For both lifetimes. */
  readonly cacheWriteTokens: number | undefined;
  readonly cacheWrite1hTokens: number | undefined;
  readonly outputTokens: number | undefined;
  readonly thinkingTokens: number | undefined;
}

export const NO_USAGE: UsageReport = {
  inputTokens: undefined,
  cacheReadTokens: undefined,
  cacheWriteTokens: undefined,
  cacheWrite1hTokens: undefined,
  outputTokens: undefined,
  thinkingTokens: undefined,
};

/** Counts are cumulative: each replaces its earlier value, and a missing, null or zero one keeps it. */
export function mergeUsage(earlier: UsageReport, block: JsonObject): UsageReport {
  const written = asObject(block['cache_creation']) ?? {};
  const output = asObject(block['output_tokens_details']) ?? {};
  return {
    inputTokens: count(block['input_tokens'], earlier.inputTokens),
    cacheReadTokens: count(block['cache_read_input_tokens'], earlier.cacheReadTokens),
    cacheWriteTokens: count(
      block['cache_creation_input_tokens'] ?? sumOfWrites(written),
      earlier.cacheWriteTokens,
    ),
    // Only the first block of a stream divides the written tokens by lifetime.
    cacheWrite1hTokens: count(written['ephemeral_1h_input_tokens'], earlier.cacheWrite1hTokens),
    outputTokens: count(block['output_tokens'], earlier.outputTokens),
    thinkingTokens: count(output['thinking_tokens'], earlier.thinkingTokens),
  };
}

/**
 * The first block of a stream. Its output tokens are a placeholder of a few tokens, so they count as not reported: of a
 * stream that ends early, the output is counted.
 */
export function mergeFirstUsage(earlier: UsageReport, block: JsonObject): UsageReport {
  const { outputTokens, thinkingTokens } = earlier;
  return { ...mergeUsage(earlier, block), outputTokens, thinkingTokens };
}

/** In the terms of the public usage block: the prompt includes what was read from and written to the cache. */
export function toReportedUsage(report: UsageReport): ReportedUsage {
  const { inputTokens, cacheReadTokens, cacheWriteTokens } = report;
  const written1h =
    cacheWriteTokens === undefined || report.cacheWrite1hTokens === undefined
      ? undefined
      : Math.min(report.cacheWrite1hTokens, cacheWriteTokens);
  return {
    promptTokens:
      inputTokens === undefined ? undefined : inputTokens + (cacheReadTokens ?? 0) + (cacheWriteTokens ?? 0),
    cachedTokens: cacheReadTokens,
    cacheWriteTokens: cacheWriteTokens === undefined ? undefined : cacheWriteTokens - (written1h ?? 0),
    cacheWrite1hTokens: written1h,
    imageTokens: undefined,
    completionTokens: report.outputTokens,
    reasoningTokens: report.thinkingTokens,
  };
}

function sumOfWrites(written: JsonObject): number | undefined {
  const short = count(written['ephemeral_5m_input_tokens'], undefined);
  const long = count(written['ephemeral_1h_input_tokens'], undefined);
  return short === undefined && long === undefined ? undefined : (short ?? 0) + (long ?? 0);
}

function count(value: unknown, earlier: number | undefined): number | undefined {
  if (value === undefined || value === null || (value === 0 && earlier !== undefined)) return earlier;
  return typeof value === 'number' && Number.isSafeInteger(value) && value >= 0 ? value : undefined;
}
