import { isRefusal } from '@gateway/errors';
import {
  checkThat,
  conflict,
  notFound,
  type AdminRefusal,
  auditOf,
  type Actor,
  isIdLike,
} from '@gateway/auth-shared';
import { keyFields } from './key-fields';
import { ownerOf } from './key-owner';
import { createKeySecret } from './key-secret';
import { readKeySettings, type RequestedKeySettings } from './key-settings';
import type { ApiKey } from '../model';
import type { AuthPorts } from '../ports';

/** The most keys of an organization, without revoked ones and those of sessions. */
const MAX_KEYS = 50_000;

export interface CreateKey {
  readonly actor: Actor;
  readonly organizationId: string;
  readonly settings: RequestedKeySettings;
}

export interface CreatedKey {
  readonly kind: 'created';
  readonly key: ApiKey;
  /** The full key. It is shown once and cannot be retrieved again. */
  readonly secret: string;
}

/**
 * A new key needs no invalidation: no client can have sent it before it existed,
 * so no edge has cached its hash as unknown.
 */
export async function createKey(
  ports: Pick<AuthPorts, 'keys' | 'secrets' | 'addressRanges' | 'clock' | 'newId'>,
  { actor, organizationId, settings: requested }: CreateKey,
): Promise<CreatedKey | AdminRefusal> {
  if (!isIdLike(organizationId)) return notFound('organization');
  const { secret, sha256, last4 } = createKeySecret(ports.secrets);
  const id = ports.newId('key');
  const createdAt = ports.clock.now();
  const check = checkThat(actor.id, 'keys:manage_own');
  const { projectId } = requested;
  const key = await ports.keys.insert(organizationId, projectId, check, (organization, project, keys) => {
    if (keys >= MAX_KEYS) {
      return conflict(`An organization has at most ${MAX_KEYS} keys that are not revoked. Revoke one first.`);
    }
    const settings = readKeySettings(requested, {
      organization,
      project,
      addressRanges: ports.addressRanges,
    });
    if (isRefusal(settings)) return settings;
    const value: ApiKey = {
      id,
      organizationId,
      last4,
      settings,
      createdAt,
      owner: ownerOf(actor),
      version: 1,
    };
    const audit = auditOf(
      { actor, organizationId, action: 'key.create', target: id, details: keyFields(value) },
      ports,
    );
    return { kind: 'change', value: { key: value, sha256 }, audit };
  });
  if (!key) return notFound('organization');
  return isRefusal(key) ? key : { kind: 'created', key, secret };
}
