import { nanoUsd, usdNumber, type NanoUsd } from '@gateway/base';
import { isTagDimension, type UsageQuery } from '../usage/parse-usage-query';

export interface UsageSums {
  readonly requests: number | bigint;
  readonly promptTokens: number | bigint;
  readonly completionTokens: number | bigint;
  readonly reasoningTokens: number | bigint;
  readonly cachedTokens: number | bigint;
  /** Written to the prompt cache for five minutes. */
  readonly cacheWriteTokens: number | bigint;
  readonly cacheWrite1hTokens: number | bigint;
  readonly costNanoUsd: NanoUsd;
}

/** Sums of one group, with the values of its dimensions. */
export interface UsageGroup extends UsageSums {
  readonly date?: string | undefined;
  readonly modelId?: string | undefined;
  readonly keyId?: string | undefined;
  /** Empty: requests without a project. */
  readonly projectId?: string | undefined;
  readonly apiType?: string | undefined;
  /** The end user, or the value of the tag; undefined: requests without one, or with other values. */
  readonly value?: string | undefined;
  /** The sums of the values beyond the limit of a day. */
  readonly otherValues?: boolean | undefined;
}

/** The budget of a run. */
export interface RunAccount {
  readonly budgetNanoUsd: NanoUsd;
  readonly spentNanoUsd: NanoUsd;
  /** Reserved by its running requests. */
  readonly heldNanoUsd: NanoUsd;
}

/**
 * The response of GET /v1/usage. Amounts in US dollars.
 *
 * @param run - the run of the query, if the ledger knows it.
 */
export function usageView(
  query: UsageQuery,
  totals: UsageSums,
  groups: readonly UsageGroup[],
  run?: RunAccount,
): object {
  const hasTag = query.groupBy.some(isTagDimension);
  const byValue = hasTag ? 'tag' : query.groupBy.includes('user') ? 'user' : undefined;
  return {
    object: 'list',
    start_date: query.startDate,
    end_date: query.endDate,
    group_by: query.groupBy,
    ...(query.modelId === undefined ? {} : { model: query.modelId }),
    ...(query.projectId === undefined ? {} : { project_id: query.projectId }),
    ...(query.apiType === undefined ? {} : { api_type: query.apiType }),
    ...(query.runId === undefined ? {} : { run_id: query.runId, run: run ? runView(run) : null }),
    currency: 'USD',
    totals: sumsView(totals),
    data: groups.map((group) => ({
      ...(group.date === undefined ? {} : { date: group.date }),
      ...(group.modelId === undefined ? {} : { model: group.modelId }),
      ...(group.keyId === undefined ? {} : { api_key: group.keyId }),
      ...(group.projectId === undefined ? {} : { project: group.projectId || null }),
      ...(group.apiType === undefined ? {} : { api_type: group.apiType }),
      ...(byValue === undefined
        ? {}
        : { [byValue]: group.value ?? null, other_values: group.otherValues ?? false }),
      ...sumsView(group),
    })),
  };
}

/** A charge above its hold may exceed the budget: nothing remains then. */
function runView({ budgetNanoUsd, spentNanoUsd, heldNanoUsd }: RunAccount): object {
  const remaining = budgetNanoUsd - spentNanoUsd - heldNanoUsd;
  return {
    limit: usdNumber(budgetNanoUsd),
    spent: usdNumber(spentNanoUsd),
    held: usdNumber(heldNanoUsd),
    remaining: usdNumber(nanoUsd(remaining > 0n ? remaining : 0n)),
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
    total_cost: usdNumber(sums.costNanoUsd),
  };
}
