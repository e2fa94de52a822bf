import { otherBudgetFields } from '../other-budget-fields';
import type { JsonObject } from '@gateway/auth-shared';
import type { Organization, OrganizationLimits } from '../model';

/** An organization as the audit log shows it, with the API's field names. */
export function organizationFields(organization: Organization): JsonObject {
  const ceilings = Object.entries(limitFields(organization.ceilings));
  return {
    name: organization.name,
    suspended: organization.suspended,
    suspended_reason: organization.suspendedReason ?? null,
    ...limitFields(organization.limits),
    ...Object.fromEntries(ceilings.map(([name, value]) => [`ceiling_${name}`, value])),
    requires_second_factor: organization.requiresSecondFactor,
    allowed_providers: [...organization.targetRules.allowedProviders],
    denied_providers: [...organization.targetRules.deniedProviders],
    allowed_regions: [...organization.targetRules.allowedRegions],
    denied_regions: [...organization.targetRules.deniedRegions],
    elastic_holds: organization.elasticHolds,
    usage_tags: [...organization.usageTags],
  };
}

function limitFields(limits: OrganizationLimits) {
  return {
    requests_per_minute: limits.requestsPerMinute ?? null,
    tokens_per_minute: limits.tokensPerMinute ?? null,
    daily_budget_nano_usd: limits.dailyBudgetNanoUsd?.toString() ?? null,
    weekly_budget_nano_usd: limits.weeklyBudgetNanoUsd?.toString() ?? null,
    monthly_budget_nano_usd: limits.monthlyBudgetNanoUsd?.toString() ?? null,
    total_budget_nano_usd: limits.totalBudgetNanoUsd?.toString() ?? null,
    other_budgets: otherBudgetFields(limits),
    concurrency: limits.concurrency ?? null,
    max_output_tokens: limits.maxOutputTokens ?? null,
    multiple_completions: limits.multipleCompletions,
  };
}
