import { Scope, type KeyLimits, type KeySettings } from '@gateway/contracts/auth';
import type { endpoints, BodyOf } from '@gateway/dashboard-contract';

/** Maps request bodies to messages of the other domains. */

type KeyChanges = Omit<BodyOf<typeof endpoints.keys.update>, 'version'>;

/** Merges changes into a key's settings: absent fields keep their value, null removes a restriction. */
export function changedKeySettings(
  current: Omit<KeySettings, 'limits'> & { limits: KeyLimits | undefined },
  changes: KeyChanges,
): KeySettings {
  const { limits } = current;
  return {
    name: changes.name ?? current.name,
    scopes: changes.scopes?.map(scopeMessage) ?? current.scopes,
    allowedModels: replaced(changes.allowed_models, current.allowedModels) ?? [],
    ipAllowlist: replaced(changes.ip_allowlist, current.ipAllowlist) ?? [],
    expiresOn: replaced(changes.expires_on, current.expiresOn),
    limits: {
      requestsPerMinute: replaced(changes.requests_per_minute, limits?.requestsPerMinute),
      tokensPerMinute: replaced(changes.tokens_per_minute, limits?.tokensPerMinute),
      concurrency: replaced(changes.concurrency, limits?.concurrency),
      dailyBudgetNanoUsd: replaced<bigint>(changes.daily_budget_usd, limits?.dailyBudgetNanoUsd),
      monthlyBudgetNanoUsd: replaced<bigint>(changes.monthly_budget_usd, limits?.monthlyBudgetNanoUsd),
      totalBudgetNanoUsd: replaced<bigint>(changes.total_budget_usd, limits?.totalBudgetNanoUsd),
    },
    projectId: replaced(changes.project_id, current.projectId),
  };
}

export const UNRESTRICTED_KEY: KeySettings = {
  name: '',
  scopes: [],
  allowedModels: [],
  ipAllowlist: [],
  expiresOn: undefined,
  limits: undefined,
  projectId: undefined,
};

function replaced<Value>(change: Value | null | undefined, current: Value | undefined): Value | undefined {
  return change === undefined ? current : (change ?? undefined);
}

function scopeMessage(scope: 'chat' | 'usage:read'): Scope {
  return scope === 'chat' ? Scope.SCOPE_CHAT : Scope.SCOPE_USAGE_READ;
}
