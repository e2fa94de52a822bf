import { usdNumber, type NanoUsd } from '@gateway/base';
import type { UsageQuery } from '../usage/parse-usage-query';

export interface UsageSums {
  readonly requests: number | bigint;
  readonly promptTokens: number | bigint;
  readonly completionTokens: number | bigint;
  readonly reasoningTokens: number | bigint;
  readonly cachedTokens: number | bigint;
  /** Written to the prompt cache for five minutes. */
  readonly cacheWriteTokens: number | bigint;
  readonly cacheWrite1hTokens: number | bigint;
  readonly cost: NanoUsd;
}

/** Sums of one group, with the values of its dimensions. */
export interface UsageGroup extends UsageSums {
  readonly date?: string | undefined;
  readonly modelId?: string | undefined;
  readonly keyId?: string | undefined;
}

/** The response of GET /v1/usage. Amounts in US dollars. */
export function usageView(query: UsageQuery, totals: UsageSums, groups: readonly UsageGroup[]): object {
  return {
    object: 'list',
    start_date: query.startDate,
    end_date: query.endDate,
    group_by: query.groupBy,
    ...(query.modelId === undefined ? {} : { model: query.modelId }),
    currency: 'USD',
    totals: sumsView(totals),
    data: groups.map((group) => ({
      ...(group.date === undefined ? {} : { date: group.date }),
      ...(group.modelId === undefined ? {} : { model: group.modelId }),
      ...(group.keyId === undefined ? {} : { api_key: group.keyId }),
      ...sumsView(group),
    })),
  };
}

function sumsView(sums: UsageSums): object {
  return {
    requests: Number(sums.requests),
    prompt_tokens: Number(sums.promptTokens),
    completion_tokens: Number(sums.completionTokens),
    reasoning_tokens: Number(sums.reasoningTokens),
    cached_tokens: Number(sums.cachedTokens),
    cache_write_tokens: Number(sums.cacheWriteTokens) + Number(sums.cacheWrite1hTokens),
    total_tokens: Number(sums.promptTokens) + Number(sums.completionTokens),
    total_cost: usdNumber(sums.cost),
  };
}
