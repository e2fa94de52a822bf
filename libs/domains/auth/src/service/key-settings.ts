import type { BodyOf, endpoints } from '@gateway/dashboard-contract';
import type { RequestedKeySettings } from '../core/keys/key-settings';
import type { KeyLimits } from '../core/model';
import { present } from './limits';

type KeyChanges = Omit<BodyOf<typeof endpoints.keys.update>, 'version'>;

const UNRESTRICTED: RequestedKeySettings = {
  name: '',
  scopes: [],
  allowedModels: [],
  ipAllowlist: [],
  jsonStreaming: false,
  limits: {},
};

/** Settings with changes: absent fields keep their value, null removes a restriction. */
export function keySettingsOf(
  changes: KeyChanges,
  current: RequestedKeySettings = UNRESTRICTED,
): RequestedKeySettings {
  const { limits } = current;
  return {
    name: changes.name ?? current.name,
    scopes: changes.scopes ?? current.scopes,
    allowedModels: replaced(changes.allowed_models, current.allowedModels) ?? [],
    ipAllowlist: replaced(changes.ip_allowlist, current.ipAllowlist) ?? [],
    jsonStreaming: changes.json_streaming ?? current.jsonStreaming,
    limits: present<KeyLimits>({
      requestsPerMinute: replaced(changes.requests_per_minute, limits.requestsPerMinute),
      tokensPerMinute: replaced(changes.tokens_per_minute, limits.tokensPerMinute),
      concurrency: replaced(changes.concurrency, limits.concurrency),
      dailyBudgetNanoUsd: replaced(changes.daily_budget_usd, limits.dailyBudgetNanoUsd),
      monthlyBudgetNanoUsd: replaced(changes.monthly_budget_usd, limits.monthlyBudgetNanoUsd),
      totalBudgetNanoUsd: replaced(changes.total_budget_usd, limits.totalBudgetNanoUsd),
    }),
    ...present<Pick<RequestedKeySettings, 'expiresOn' | 'projectId'>>({
      expiresOn: replaced(changes.expires_on, current.expiresOn),
      projectId: replaced(changes.project_id, current.projectId),
    }),
  };
}

function replaced<Value>(change: Value | null | undefined, current: Value | undefined): Value | undefined {
  return change === undefined ? current : (change ?? undefined);
}
