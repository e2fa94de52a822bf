import { isRefusal } from '@gateway/errors';
import { hasPermission, type CancelSignal, type UnixMs } from '@gateway/base';
import {
  notFound,
  forbidden,
  refusals,
  type AdminRefusal,
  auditOf,
  awaitEdges,
  isSessionActive,
  isIdLike,
} from '@gateway/auth-shared';
import { keyFields } from './key-fields';
import { ownerOf } from './key-owner';
import type { ApiKey } from '../model';
import type { AuthPorts } from '../ports';
import type { CreatedKey, CreateKey } from './create-key';
import { createKeySecret } from './key-secret';
import { readKeySettings } from './key-settings';

const MAX_SESSION_KEY_MS = 86_400_000;

export interface CreateSessionKey extends CreateKey {
  /** A session of the actor. A management token has none. */
  readonly sessionId: string | undefined;
  readonly lifetimeMs: number;
}

/**
 * Creates a short-lived key for a member's session. It expires on its own, ends
 * with the session, and is revoked when the session gets its next key in this
 * organization. All of this is stored with the key, so no process has to track it.
 * It belongs to no project.
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
  if (sessionId === undefined || !isIdLike(sessionId)) return refusals.notSignedIn;
  const { secret, sha256, last4 } = createKeySecret(ports.secrets);
  const id = ports.newId('key');
  const createdAt = ports.clock.now();
  const target = { id: sessionId, memberId: actor.id };
  const committed = await ports.keys.insertForSession(
    organizationId,
    target,
    (organization, session, role) => {
      if (!isSessionActive(session, createdAt, ports.settings.sessionIdleMs)) return refusals.notSignedIn;
      // Again, under the lock: the end of a membership revokes the session keys that exist then.
      const roles = { memberRole: session.member.role, organizationRole: role };
      if (!hasPermission(roles, 'playground:use')) return forbidden();
      const settings = readKeySettings(requested, {
        organization,
        project: undefined,
        addressRanges: ports.addressRanges,
      });
      if (isRefusal(settings)) return settings;
      const endsAt = createdAt + Math.min(lifetimeMs, MAX_SESSION_KEY_MS);
      const expiresAt = Math.min(endsAt, session.expiresAt) as UnixMs;
      const value: ApiKey = {
        id,
        organizationId,
        last4,
        settings,
        createdAt,
        version: 1,
        expiresAt,
        sessionId,
        owner: ownerOf(actor),
      };
      const details = {
        ...keyFields(value),
        expires_at: new Date(expiresAt).toISOString(),
        session: sessionId,
      };
      const audit = auditOf({ actor, organizationId, action: 'key.create', target: id, details }, ports);
      return { kind: 'change', value: { key: value, sha256 }, audit };
    },
  );
  if (!committed) return notFound('organization');
  if (isRefusal(committed)) return committed;
  await awaitEdges(ports, committed.sequence, signal);
  return { kind: 'created', key: committed.value, secret };
}
