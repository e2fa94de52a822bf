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
import { changeKey, type KeyPorts, type KeyTarget } from './change-key';
import type { CreatedKey } from './create-key';
import { makeKeySecret } from './key-secret';

const MAX_PREVIOUS_SECRET_MS = 90 * 86_400_000;

export interface RotateKey extends KeyTarget {
  /** Absent: the secret of before ends at once. */
  readonly previousWorksUntil?: UnixMs;
  /** While the secret of an earlier rotation works: which of the two ends at once. */
  readonly endsNow?: 'previous' | 'current';
}

/**
 * A new secret for the same key, which keeps its id, settings and counts.
 * Answers once no edge takes the secrets of before for longer than they are
 * good. A key has two secrets at most; with two, whoever rotates says which
 * goes, since either may be the one in use: the answer with the newer one may
 * have been lost.
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
  const { secret, sha256, last4 } = makeKeySecret(ports.secrets);
  const committed = await ports.keys.rotate(organizationId, keyId, (current) => {
    if (current.revokedAt !== undefined) return conflict('A revoked key cannot be rotated.');
    const hasTwo = workingSecret(current.previousSecret, now) !== undefined;
    if (hasTwo && endsNow === undefined) {
      return conflict('The secret of an earlier rotation still works. Say which of the two ends now.');
    }
    const stays = hasTwo && endsNow === 'current' ? 'previous' : 'current';
    const keptLast4 = stays === 'previous' ? current.previousSecret?.last4 : current.last4;
    const goesOn = previousWorksUntil !== undefined && previousWorksUntil > now && keptLast4 !== undefined;
    const { previousSecret: _ended, ...rest } = current;
    const key: ApiKey = {
      ...rest,
      last4,
      ...(goesOn ? { previousSecret: { last4: keptLast4, worksUntil: previousWorksUntil } } : {}),
      version: current.version + 1,
    };
    const details = {
      changed: { last4: { before: current.last4, after: last4 } },
      previous_secret: goesOn
        ? { last4: keptLast4, works_until: new Date(previousWorksUntil).toISOString() }
        : null,
    };
    const audit = auditOf({ actor, organizationId, action: 'key.rotate', target: keyId, details }, ports);
    return { kind: 'change', value: { key, sha256, kept: goesOn ? stays : 'none' }, audit };
  });
  if (!committed) return notFound('key');
  if (isRefusal(committed)) return committed;
  await awaitEdges(ports, committed.sequence, signal);
  return { kind: 'created', key: committed.value, secret };
}

/** Ends the secret of before a rotation. Answers once no edge can accept it any more. Idempotent. */
export async function endPreviousSecret(
  ports: KeyPorts,
  target: KeyTarget,
  signal: CancelSignal,
): Promise<ApiKey | AdminRefusal> {
  return changeKey(
    ports,
    target,
    ({ previousSecret, ...current }) => {
      if (previousSecret === undefined) return { kind: 'keep', value: current };
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

/** The secret while it works. */
function workingSecret(secret: PreviousSecret | undefined, now: UnixMs): PreviousSecret | undefined {
  return secret && secret.worksUntil > now ? secret : undefined;
}
