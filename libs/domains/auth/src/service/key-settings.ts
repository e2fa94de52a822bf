import type { BodyOf, endpoints } from '@gateway/dashboard-contract';
import { withChanges } from '../core/changes';
import type { RequestedKeySettings } from '../core/keys/key-settings';
import { budgetChangesOf } from './limits';

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
  return {
    ...UNRESTRICTED,
    ...withChanges(current, {
      name: changes.name,
      scopes: changes.scopes,
      allowedModels: changes.allowed_models,
      ipAllowlist: changes.ip_allowlist,
      jsonStreaming: changes.json_streaming,
      expiresOn: changes.expires_on,
      projectId: changes.project_id,
      limits: withChanges(current.limits, {
        ...budgetChangesOf(changes),
        requestsPerMinute: changes.requests_per_minute,
        tokensPerMinute: changes.tokens_per_minute,
        concurrency: changes.concurrency,
      }),
    }),
  };
}
