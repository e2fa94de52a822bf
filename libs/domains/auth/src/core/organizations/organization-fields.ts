import type { Organization } from '../model';
import type { JsonObject } from '@gateway/auth-shared';

/** An organization as the audit log shows it, with the API's field names. */
export function organizationFields({ name, suspended, suspendedReason, limits }: Organization): JsonObject {
  return {
    name,
    suspended,
    suspended_reason: suspendedReason ?? null,
    requests_per_minute: limits.requestsPerMinute ?? null,
    tokens_per_minute: limits.tokensPerMinute ?? null,
    daily_budget_nano_usd: limits.dailyBudgetNanoUsd?.toString() ?? null,
    concurrency: limits.concurrency ?? null,
    max_output_tokens: limits.maxOutputTokens ?? null,
    multiple_completions: limits.multipleCompletions,
  };
}
