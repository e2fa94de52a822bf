import type { CancelSignal } from '@gateway/base';
import { isRefusal } from '@gateway/errors';
import { checkVersion, conflict, type AdminRefusal, auditOf, changedFields } from '@gateway/auth-shared';
import { keyFields } from './key-fields';
import { changeKey, type KeyPorts, type KeyTarget } from './change-key';
import { readKeySettings, type RequestedKeySettings } from './key-settings';
import type { ApiKey, KeySettings } from '../model';

export interface UpdateKey extends KeyTarget {
  /** The settings after the change. */
  readonly settingsOf: (current: KeySettings) => RequestedKeySettings;
  readonly expectedVersion?: number;
}

/** Changes name and restrictions. */
export async function updateKey(
  ports: KeyPorts,
  request: UpdateKey,
  signal: CancelSignal,
): Promise<ApiKey | AdminRefusal> {
  return changeKey(
    ports,
    { ...request, projectIdOf: ({ settings }) => request.settingsOf(settings).projectId },
    (current, organization, project) => {
      if (current.revokedAt !== undefined) return conflict('A revoked key cannot be changed.');
      const stale = checkVersion(current.version, request.expectedVersion);
      if (stale) return stale;
      const settings = readKeySettings(request.settingsOf(current.settings), {
        organization,
        project,
        addressRanges: ports.addressRanges,
      });
      if (isRefusal(settings)) return settings;
      const value: ApiKey = { ...current, settings, version: current.version + 1 };
      const before = keyFields(current);
      const after = keyFields(value);
      if (JSON.stringify(before) === JSON.stringify(after)) return { kind: 'unchanged', value: current };
      const audit = auditOf(
        {
          actor: request.actor,
          organizationId: request.organizationId,
          action: 'key.update',
          target: request.keyId,
          details: changedFields(before, after),
        },
        ports,
      );
      return { kind: 'change', value, audit };
    },
    signal,
  );
}
