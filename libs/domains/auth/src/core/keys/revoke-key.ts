import type { CancelSignal } from '@gateway/base';
import { type AdminRefusal, auditOf } from '@gateway/auth-shared';
import { changeKey, type KeyPorts, type KeyTarget } from './change-key';
import type { ApiKey } from '../model';

/** Revokes the key permanently. Resolves once no edge can accept it. Idempotent. */
export async function revokeKey(
  ports: KeyPorts,
  target: KeyTarget,
  signal: CancelSignal,
): Promise<ApiKey | AdminRefusal> {
  return changeKey(
    ports,
    target,
    (current) => {
      if (current.revokedAt !== undefined) return { kind: 'unchanged', value: current };
      const audit = auditOf(
        {
          actor: target.actor,
          organizationId: target.organizationId,
          action: 'key.revoke',
          target: target.keyId,
          details: { name: current.settings.name, last4: current.last4 },
        },
        ports,
      );
      const value = { ...current, revokedAt: ports.clock.now(), version: current.version + 1 };
      return { kind: 'change', value, audit };
    },
    signal,
  );
}
