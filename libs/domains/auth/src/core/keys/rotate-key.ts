import { isRefusal } from '@gateway/errors';
import type { CancelSignal, UnixMs } from '@gateway/base';
import {
  conflict,
  invalid,
  notFound,
  type AdminRefusal,
  auditOf,
  awaitEdges,
  isIdLike,
} from '@gateway/auth-shared';
import type { ApiKey, PreviousSecret } from '../model';
import type { AuthPorts } from '../ports';
import { changeKey, refuseForeignKey, type KeyPorts, type KeyTarget } from './change-key';
import type { CreatedKey } from './create-key';
import { createKeySecret } from './key-secret';

const MAX_PREVIOUS_SECRET_MS = 90 * 86_400_000;

export interface RotateKey extends KeyTarget {
  /** Absent: the previous secret expires immediately. */
  readonly previousWorksUntil?: UnixMs;
  /** Required while the secret of an earlier rotation is still valid: which of the two expires immediately. */
  readonly endsNow?: 'previous' | 'current';
}

/**
 * Gives a key a new secret. Its id, settings and usage counts stay the same.
 * Resolves once no edge accepts an earlier secret past its expiry. A key has at
 * most two secrets. If it already has two, the request must name the one that
 * expires: either may be in use, as the response of the last rotation may have
 * been lost.
 */
export async function rotateKey(
  ports: KeyPorts & Pick<AuthPorts, 'secrets'>,
  request: RotateKey,
  signal: CancelSignal,
): Promise<CreatedKey | AdminRefusal> {
  const { actor, organizationId, keyId, previousWorksUntil, endsNow } = request;
  if (!isIdLike(organizationId) || !isIdLike(keyId)) return notFound('key');
  const now = ports.clock.now();
  if (previousWorksUntil !== undefined && previousWorksUntil > now + MAX_PREVIOUS_SECRET_MS) {
    return invalid('previous_works_until', 'previous_works_until must be at most 90 days from now.');
  }
  const { secret, sha256, last4 } = createKeySecret(ports.secrets);
  const committed = await ports.keys.rotate(organizationId, keyId, (current) => {
    const refusal = refuseForeignKey(request, current);
    if (refusal) return refusal;
    if (current.revokedAt !== undefined) return conflict('A revoked key cannot be rotated.');
    const hasTwo = workingSecret(current.previousSecret, now) !== undefined;
    if (hasTwo && endsNow === undefined) {
      return conflict('The previous secret is still valid. Choose which of the two secrets expires now.');
    }
    const retained = hasTwo && endsNow === 'current' ? 'previous' : 'current';
    const retainedLast4 = retained === 'previous' ? current.previousSecret?.last4 : current.last4;
    const staysValid =
      previousWorksUntil !== undefined && previousWorksUntil > now && retainedLast4 !== undefined;
    const { previousSecret: _ended, ...rest } = current;
    const key: ApiKey = {
      ...rest,
      last4,
      ...(staysValid ? { previousSecret: { last4: retainedLast4, worksUntil: previousWorksUntil } } : {}),
      version: current.version + 1,
    };
    const details = {
      changed: { last4: { before: current.last4, after: last4 } },
      previous_secret: staysValid
        ? { last4: retainedLast4, works_until: new Date(previousWorksUntil).toISOString() }
        : null,
    };
    const audit = auditOf({ actor, organizationId, action: 'key.rotate', target: keyId, details }, ports);
    return { kind: 'change', value: { key, sha256, retained: staysValid ? retained : 'none' }, audit };
  });
  if (!committed) return notFound('key');
  if (isRefusal(committed)) return committed;
  await awaitEdges(ports, committed.sequence, signal);
  return { kind: 'created', key: committed.value, secret };
}

/** Expires the previous secret of a rotated key. Resolves once no edge can accept it. Idempotent. */
export async function endPreviousSecret(
  ports: KeyPorts,
  target: KeyTarget,
  signal: CancelSignal,
): Promise<ApiKey | AdminRefusal> {
  return changeKey(
    ports,
    target,
    ({ previousSecret, ...current }) => {
      if (previousSecret === undefined) return { kind: 'unchanged', value: current };
      const { actor, organizationId, keyId } = target;
      const details = { last4: previousSecret.last4 };
      const audit = auditOf(
        { actor, organizationId, action: 'key.end_previous_secret', target: keyId, details },
        ports,
      );
      return { kind: 'change', value: { ...current, version: current.version + 1 }, audit };
    },
    signal,
  );
}

/** The secret if it has not expired. */
function workingSecret(secret: PreviousSecret | undefined, now: UnixMs): PreviousSecret | undefined {
  return secret && secret.worksUntil > now ? secret : undefined;
}
