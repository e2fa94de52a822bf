import { restrictsTargets, type Budget, type TargetRules } from '@gateway/base';
import {
  budgetPeriodMessage,
  budgetScopeMessage,
  type Budget as BudgetMessage,
  type TargetRules as TargetRulesMessage,
} from '@gateway/contracts/common';
import {
  keyScopeMessage,
  type KeyGrant as KeyGrantMessage,
  type WatchInvalidationsResponse,
} from '@gateway/contracts/auth';
import type * as shared from '@gateway/auth-shared';
import type * as core from '../core/model';

/** Core types as proto messages. */

function targetRulesMessage(rules: TargetRules): TargetRulesMessage {
  return {
    allowedProviders: [...rules.allowedProviders],
    deniedProviders: [...rules.deniedProviders],
    allowedRegions: [...rules.allowedRegions],
    deniedRegions: [...rules.deniedRegions],
  };
}

export function keyGrantMessage({ settings, ...grant }: core.KeyGrant): KeyGrantMessage {
  return {
    keyId: grant.keyId,
    organizationId: grant.organizationId,
    revoked: grant.revoked,
    expiresOn: settings.expiresOn,
    scopes: settings.scopes.map(keyScopeMessage),
    allowedModels: [...settings.allowedModels],
    ipAllowlist: [...settings.ipAllowlist],
    jsonStreaming: settings.jsonStreaming,
    keyLimits: settings.limits,
    organizationLimits: grant.organizationLimits,
    organizationSuspended: grant.organizationSuspended,
    targetRules: restrictsTargets(grant.targetRules) ? targetRulesMessage(grant.targetRules) : undefined,
    projectId: settings.projectId,
    budgets: grant.budgets.map(budgetMessage),
    elasticHolds: grant.elasticHolds,
    usageTags: [...grant.usageTags],
    expiresUnixMs: grant.expiresAt === undefined ? undefined : BigInt(grant.expiresAt),
    secretEndsUnixMs: grant.secretEndsAt === undefined ? undefined : BigInt(grant.secretEndsAt),
  };
}

export function budgetMessage({ scope, period, hours, ...budget }: Budget): BudgetMessage {
  return { ...budget, hours, scope: budgetScopeMessage(scope), period: budgetPeriodMessage(period) };
}

export function invalidationMessage({ sequence, target }: shared.Invalidation): WatchInvalidationsResponse {
  switch (target.kind) {
    case 'all':
      return { sequence, target: { $case: 'all', value: {} } };
    case 'key':
      return { sequence, target: { $case: 'keySha256', value: target.sha256 } };
    case 'organization':
      return { sequence, target: { $case: 'organizationId', value: target.id } };
  }
}
