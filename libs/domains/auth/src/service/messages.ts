import { nanoUsd, restrictsTargets, type Budget, type TargetRules } from '@gateway/base';
import {
  budgetPeriodMessage,
  budgetScopeMessage,
  type Budget as BudgetMessage,
  type TargetRules as TargetRulesMessage,
} from '@gateway/contracts/common';
import {
  KeyState,
  Scope,
  type Key as KeyMessage,
  type KeyGrant as KeyGrantMessage,
  type KeyLimits as KeyLimitsMessage,
  type KeySettings as KeySettingsMessage,
  type ListKeysRequest,
  type ProjectBudgets as ProjectBudgetsMessage,
  type WatchInvalidationsResponse,
} from '@gateway/contracts/auth';
import type { RequestedKeySettings } from '../core/keys/key-settings';
import type * as core from '../core/model';
import type { KeyFilter } from '../core/ports';
import type * as shared from '@gateway/auth-shared';
import { isIdLike, readSearchText } from '@gateway/auth-shared';
import { missing } from '@gateway/auth-shared/service';

/** Conversions between proto messages and core types, one function per direction. */

const SCOPE_OF_MESSAGE: Readonly<Partial<Record<Scope, core.Scope>>> = {
  [Scope.SCOPE_CHAT]: 'chat',
  [Scope.SCOPE_USAGE_READ]: 'usage:read',
};

const MESSAGE_OF_SCOPE: Readonly<Record<core.Scope, Scope>> = {
  chat: Scope.SCOPE_CHAT,
  'usage:read': Scope.SCOPE_USAGE_READ,
};
function keyLimitsOf(limits: KeyLimitsMessage | undefined): core.KeyLimits {
  return {
    ...(limits?.requestsPerMinute === undefined ? {} : { requestsPerMinute: limits.requestsPerMinute }),
    ...(limits?.tokensPerMinute === undefined ? {} : { tokensPerMinute: limits.tokensPerMinute }),
    ...projectBudgetsOf(limits),
    ...(limits?.concurrency === undefined ? {} : { concurrency: limits.concurrency }),
  };
}

function projectBudgetsOf(budgets: ProjectBudgetsMessage | undefined): core.ProjectBudgets {
  return {
    ...(budgets?.dailyBudgetNanoUsd === undefined
      ? {}
      : { dailyBudgetNanoUsd: nanoUsd(budgets.dailyBudgetNanoUsd) }),
    ...(budgets?.monthlyBudgetNanoUsd === undefined
      ? {}
      : { monthlyBudgetNanoUsd: nanoUsd(budgets.monthlyBudgetNanoUsd) }),
    ...(budgets?.totalBudgetNanoUsd === undefined
      ? {}
      : { totalBudgetNanoUsd: nanoUsd(budgets.totalBudgetNanoUsd) }),
  };
}

function targetRulesMessage(rules: TargetRules): TargetRulesMessage {
  return {
    allowedProviders: [...rules.allowedProviders],
    deniedProviders: [...rules.deniedProviders],
    allowedRegions: [...rules.allowedRegions],
    deniedRegions: [...rules.deniedRegions],
  };
}

export function keySettingsOf(settings: KeySettingsMessage | undefined): RequestedKeySettings {
  if (!settings) throw missing('settings');
  return {
    name: settings.name,
    scopes: settings.scopes.flatMap((scope) => SCOPE_OF_MESSAGE[scope] ?? []),
    allowedModels: settings.allowedModels,
    ipAllowlist: settings.ipAllowlist,
    ...(settings.expiresOn === undefined ? {} : { expiresOn: settings.expiresOn }),
    limits: keyLimitsOf(settings.limits),
    ...(settings.projectId === undefined ? {} : { projectId: settings.projectId }),
  };
}

export function keyMessage({
  id,
  organizationId,
  last4,
  settings,
  version,
  previousSecret,
  sessionId,
  owner,
  ...times
}: core.ApiKey): KeyMessage {
  return {
    id,
    organizationId,
    name: settings.name,
    last4,
    scopes: settings.scopes.map((scope) => MESSAGE_OF_SCOPE[scope]),
    allowedModels: [...settings.allowedModels],
    ipAllowlist: [...settings.ipAllowlist],
    expiresOn: settings.expiresOn,
    limits: settings.limits,
    createdUnixMs: BigInt(times.createdAt),
    revokedUnixMs: times.revokedAt === undefined ? undefined : BigInt(times.revokedAt),
    version,
    expiresUnixMs: times.expiresAt === undefined ? undefined : BigInt(times.expiresAt),
    forSession: sessionId !== undefined,
    projectId: settings.projectId,
    owner: {
      memberId: owner.id,
      email: owner.email,
      operator: owner.isOperator,
      hasLeft: owner.hasLeft,
    },
    previousSecret: previousSecret && {
      last4: previousSecret.last4,
      worksUntilUnixMs: BigInt(previousSecret.worksUntil),
    },
  };
}

export function keyGrantMessage({ settings, ...grant }: core.KeyGrant): KeyGrantMessage {
  return {
    keyId: grant.keyId,
    organizationId: grant.organizationId,
    revoked: grant.revoked,
    expiresOn: settings.expiresOn,
    scopes: settings.scopes.map((scope) => MESSAGE_OF_SCOPE[scope]),
    allowedModels: [...settings.allowedModels],
    ipAllowlist: [...settings.ipAllowlist],
    keyLimits: settings.limits,
    organizationLimits: grant.organizationLimits,
    organizationSuspended: grant.organizationSuspended,
    targetRules: restrictsTargets(grant.targetRules) ? targetRulesMessage(grant.targetRules) : undefined,
    projectId: settings.projectId,
    budgets: grant.budgets.map(budgetMessage),
    elasticHolds: grant.elasticHolds,
    expiresUnixMs: grant.expiresAt === undefined ? undefined : BigInt(grant.expiresAt),
    secretEndsUnixMs: grant.secretEndsAt === undefined ? undefined : BigInt(grant.secretEndsAt),
  };
}

export function budgetMessage({ scope, period, ...budget }: Budget): BudgetMessage {
  return { ...budget, scope: budgetScopeMessage(scope), period: budgetPeriodMessage(period) };
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

const STATE_OF_MESSAGE: Readonly<Partial<Record<KeyState, core.KeyState>>> = {
  [KeyState.KEY_STATE_ACTIVE]: 'active',
  [KeyState.KEY_STATE_EXPIRED]: 'expired',
  [KeyState.KEY_STATE_REVOKED]: 'revoked',
};

export function keyFilterOf({ forSession, filter }: ListKeysRequest): KeyFilter {
  const state = filter && STATE_OF_MESSAGE[filter.state];
  const search = readSearchText(filter?.search);
  return {
    ...(forSession === undefined ? {} : { forSession }),
    ...(state === undefined ? {} : { state }),
    ...(search === undefined ? {} : { search }),
    ...(filter && filter.keyIds.length > 0 ? { ids: filter.keyIds.filter(isIdLike) } : {}),
    ...(filter?.ownerId === undefined ? {} : { ownerId: isIdLike(filter.ownerId) ? filter.ownerId : '' }),
    ...(filter?.ownerHasLeft ? { ownerHasLeft: true } : {}),
    ...(filter?.projectId === undefined
      ? {}
      : { projectId: isIdLike(filter.projectId) ? filter.projectId : '' }),
  };
}
