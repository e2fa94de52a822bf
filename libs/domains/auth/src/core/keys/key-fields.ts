import { otherBudgetFields } from '../other-budget-fields';
import type { ApiKey } from '../model';
import type { JsonObject } from '@gateway/auth-shared';

/** A key as the audit log shows it: everything but its value and hash. */
export function keyFields({ settings, last4 }: ApiKey): JsonObject {
  return {
    name: settings.name,
    last4,
    scopes: settings.scopes,
    allowed_models: settings.allowedModels,
    ip_allowlist: settings.ipAllowlist,
    json_streaming: settings.jsonStreaming,
    expires_on: settings.expiresOn ?? null,
    requests_per_minute: settings.limits.requestsPerMinute ?? null,
    tokens_per_minute: settings.limits.tokensPerMinute ?? null,
    daily_budget_nano_usd: settings.limits.dailyBudgetNanoUsd?.toString() ?? null,
    weekly_budget_nano_usd: settings.limits.weeklyBudgetNanoUsd?.toString() ?? null,
    monthly_budget_nano_usd: settings.limits.monthlyBudgetNanoUsd?.toString() ?? null,
    total_budget_nano_usd: settings.limits.totalBudgetNanoUsd?.toString() ?? null,
    other_budgets: otherBudgetFields(settings.limits),
    concurrency: settings.limits.concurrency ?? null,
    project_id: settings.projectId ?? null,
  };
}
