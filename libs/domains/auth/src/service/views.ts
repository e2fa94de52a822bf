import { isoTime, timeOrNull, usd, usdOrNull } from '@gateway/admin-calls';
import { utcDay, type TargetRules, type UnixMs } from '@gateway/base';
import type {
  ApiKey,
  KeyLimits,
  KeyOwner,
  KeyState,
  Organization,
  OrganizationLimits,
  PreviousSecret,
  Project,
  ProjectBudgets,
} from '../core/model';

export function organizationView(organization: Organization) {
  return {
    id: organization.id,
    name: organization.name,
    suspended: organization.suspended,
    suspended_reason: organization.suspendedReason ?? null,
    limits: ownLimitsView(organization.limits),
    ceilings: limitsView(organization.ceilings),
    requires_second_factor: organization.requiresSecondFactor,
    target_rules: targetRulesView(organization.targetRules),
    elastic_holds: organization.elasticHolds,
    usage_tags: organization.usageTags,
    created_at: isoTime(organization.createdAt),
    version: organization.version,
  };
}

export function ownLimitsView(limits: OrganizationLimits) {
  return { ...limitsView(limits), budgets: otherBudgetsView(limits) };
}

export function limitsView(limits: OrganizationLimits) {
  return {
    ...keyLimitsView(limits),
    max_output_tokens: limits.maxOutputTokens ?? null,
    multiple_completions: limits.multipleCompletions,
  };
}

function keyLimitsView(limits: KeyLimits) {
  return {
    requests_per_minute: limits.requestsPerMinute ?? null,
    tokens_per_minute: limits.tokensPerMinute ?? null,
    concurrency: limits.concurrency ?? null,
    ...budgetsView(limits),
  };
}

function budgetsView(budgets: ProjectBudgets) {
  return {
    daily_budget_usd: usdOrNull(budgets.dailyBudgetNanoUsd),
    weekly_budget_usd: usdOrNull(budgets.weeklyBudgetNanoUsd),
    monthly_budget_usd: usdOrNull(budgets.monthlyBudgetNanoUsd),
    total_budget_usd: usdOrNull(budgets.totalBudgetNanoUsd),
  };
}

function otherBudgetsView({ otherBudgets = [] }: ProjectBudgets) {
  return otherBudgets.map(({ amountNanoUsd, perEndUser, hours = 0, ...budget }) => ({
    ...budget,
    hours,
    ...(perEndUser && { per_end_user: true }),
    amount_usd: usd(amountNanoUsd),
  }));
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
    budgets: otherBudgetsView(project.budgets),
    created_at: isoTime(project.createdAt),
    archived_at: timeOrNull(project.archivedAt),
    version: project.version,
  };
}

interface KeyViewContext {
  readonly now: UnixMs;
  /** Customers do not see which operator owns a key. */
  readonly isOperator: boolean;
}

export function keyView(key: ApiKey, { now, isOperator }: KeyViewContext) {
  const { settings } = key;
  const state = stateOf(key, now);
  return {
    id: key.id,
    organization_id: key.organizationId,
    kind: key.sessionId === undefined ? ('standard' as const) : ('playground' as const),
    name: settings.name,
    last4: key.last4,
    scopes: settings.scopes,
    allowed_models: settings.allowedModels.length === 0 ? null : settings.allowedModels,
    ip_allowlist: settings.ipAllowlist,
    json_streaming: settings.jsonStreaming,
    expires_on: settings.expiresOn ?? null,
    expires_at: timeOrNull(key.expiresAt),
    ...keyLimitsView(settings.limits),
    budgets: otherBudgetsView(settings.limits),
    project_id: settings.projectId ?? null,
    created_at: isoTime(key.createdAt),
    revoked_at: timeOrNull(key.revokedAt),
    state,
    version: key.version,
    owner: keyOwnerView(key.owner, isOperator),
    previous_secret: state === 'active' ? previousSecretView(key.previousSecret, now) : null,
  };
}

function keyOwnerView(owner: KeyOwner, isOperator: boolean) {
  return owner.isOperator && !isOperator
    ? null
    : { id: owner.id, email: owner.email, name: owner.name, has_left: owner.hasLeft };
}

function previousSecretView(previous: PreviousSecret | undefined, now: UnixMs) {
  if (!previous || previous.worksUntil <= now) return null;
  return { last4: previous.last4, works_until: isoTime(previous.worksUntil) };
}

function stateOf({ revokedAt, expiresAt, settings: { expiresOn } }: ApiKey, now: UnixMs): KeyState {
  if (revokedAt !== undefined) return 'revoked';
  if (expiresAt !== undefined && expiresAt <= now) return 'expired';
  return expiresOn !== undefined && expiresOn < utcDay(now) ? 'expired' : 'active';
}
