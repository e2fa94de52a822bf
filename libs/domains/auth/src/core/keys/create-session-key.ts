import { isRefusal } from '@gateway/errors';
import type { CancelSignal, UnixMs } from '@gateway/base';
import {
  notFound,
  refusals,
  type AdminRefusal,
  auditOf,
  awaitEdges,
  isRunning,
  isIdLike,
} from '@gateway/auth-shared';
import { keyFields } from './key-fields';
import type { ApiKey } from '../model';
import type { AuthPorts } from '../ports';
import type { CreatedKey, CreateKey } from './create-key';
import { makeKeySecret } from './key-secret';
import { readKeySettings } from './key-settings';

const MAX_SESSION_KEY_MS = 86_400_000;

export interface CreateSessionKey extends CreateKey {
  /** A session of the actor's. */
  readonly sessionId: string;
  readonly lifetimeMs: number;
}

/**
 * A key of a person's own for some minutes. It ends by itself, with their
 * session, and when they ask for the next one, so that none outlives whoever
 * has made it: that is part of the key, and no process has to remember it.
 */
export async function createSessionKey(
  ports: Pick<
    AuthPorts,
    'keys' | 'leases' | 'feed' | 'secrets' | 'addressRanges' | 'clock' | 'newId' | 'settings'
  >,
  { actor, organizationId, settings: requested, sessionId, lifetimeMs }: CreateSessionKey,
  signal: CancelSignal,
): Promise<CreatedKey | AdminRefusal> {
  if (!isIdLike(organizationId)) return notFound('organization');
  if (!isIdLike(sessionId)) return refusals.notSignedIn;
  const { secret, sha256, last4 } = makeKeySecret(ports.secrets);
  const id = ports.newId('key');
  const createdAt = ports.clock.now();
  const ofActor = { id: sessionId, memberId: actor.id };
  const committed = await ports.keys.insertForSession(organizationId, ofActor, (organization, session) => {
    if (!isRunning(session, createdAt, ports.settings.sessionIdleMs)) return refusals.notSignedIn;
    const settings = readKeySettings(requested, {
      organizationLimits: organization.limits,
      addressRanges: ports.addressRanges,
    });
    if (isRefusal(settings)) return settings;
    const endsAt = createdAt + Math.min(lifetimeMs, MAX_SESSION_KEY_MS);
    const expiresAt = Math.min(endsAt, session.expiresAt) as UnixMs;
    const value: ApiKey = {
      ...{ id, organizationId, last4, settings, createdAt, version: 1 },
      ...{ expiresAt, sessionId },
    };
    const details = {
      ...keyFields(value),
      expires_at: new Date(expiresAt).toISOString(),
      session: sessionId,
    };
    const audit = auditOf({ actor, organizationId, action: 'key.create', target: id, details }, ports);
    return { kind: 'change', value: { key: value, sha256 }, audit };
  });
  if (!committed) return notFound('organization');
  if (isRefusal(committed)) return committed;
  await awaitEdges(ports, committed.sequence, signal);
  return { kind: 'created', key: committed.value, secret };
}
