import { isoTime, timeOrNull, usdOrNull } from '@gateway/admin-calls';
import type { TargetRules } from '@gateway/base';
import type { Organization, OrganizationLimits, Project, ProjectBudgets } from '../core/model';

export function organizationView(organization: Organization) {
  return {
    id: organization.id,
    name: organization.name,
    suspended: organization.suspended,
    suspended_reason: organization.suspendedReason ?? null,
    limits: limitsView(organization.limits),
    ceilings: limitsView(organization.ceilings),
    requires_second_factor: organization.requiresSecondFactor,
    target_rules: targetRulesView(organization.targetRules),
    elastic_holds: organization.elasticHolds,
    created_at: isoTime(organization.createdAt),
    version: organization.version,
  };
}

export function limitsView(limits: OrganizationLimits) {
  return {
    requests_per_minute: limits.requestsPerMinute ?? null,
    tokens_per_minute: limits.tokensPerMinute ?? null,
    concurrency: limits.concurrency ?? null,
    ...budgetsView(limits),
    max_output_tokens: limits.maxOutputTokens ?? null,
    multiple_completions: limits.multipleCompletions,
  };
}

function budgetsView(budgets: ProjectBudgets) {
  return {
    daily_budget_usd: usdOrNull(budgets.dailyBudgetNanoUsd),
    monthly_budget_usd: usdOrNull(budgets.monthlyBudgetNanoUsd),
    total_budget_usd: usdOrNull(budgets.totalBudgetNanoUsd),
  };
}

export function targetRulesView(rules: TargetRules) {
  return {
    allowed_providers: rules.allowedProviders,
    denied_providers: rules.deniedProviders,
    allowed_regions: rules.allowedRegions,
    denied_regions: rules.deniedRegions,
  };
}

export function projectView(project: Project) {
  return {
    id: project.id,
    organization_id: project.organizationId,
    name: project.name,
    ...budgetsView(project.budgets),
    created_at: isoTime(project.createdAt),
    archived_at: timeOrNull(project.archivedAt),
    version: project.version,
  };
}
