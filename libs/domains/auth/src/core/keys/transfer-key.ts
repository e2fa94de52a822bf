import type { CancelSignal } from '@gateway/base';
import { auditOf, conflict, type AdminRefusal } from '@gateway/auth-shared';
import { changeKey, type KeyPorts, type KeyTarget } from './change-key';
import type { ApiKey, KeyOwner } from '../model';

export interface TransferKey extends KeyTarget {
  /** A member of the organization whose role may own keys. */
  readonly owner: KeyOwner;
}

/** Makes another member the owner of the key. Its secrets, settings and counts stay. */
export async function transferKey(
  ports: KeyPorts,
  request: TransferKey,
  signal: CancelSignal,
): Promise<ApiKey | AdminRefusal> {
  return changeKey(
    ports,
    request,
    (current) => {
      if (current.revokedAt !== undefined) return conflict('A revoked key cannot be transferred.');
      if (current.sessionId !== undefined) return conflict('A playground key ends with its session.');
      if (current.owner.id === request.owner.id) return { kind: 'unchanged', value: current };
      const value: ApiKey = { ...current, owner: request.owner, version: current.version + 1 };
      const audit = auditOf(
        {
          actor: request.actor,
          organizationId: request.organizationId,
          action: 'key.transfer',
          target: request.keyId,
          details: {
            name: current.settings.name,
            changed: { owner: { before: current.owner.id, after: request.owner.id } },
          },
        },
        ports,
      );
      return { kind: 'change', value, audit };
    },
    signal,
  );
}
