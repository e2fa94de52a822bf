import type { CancelSignal } from '@gateway/base';
import { isRefusal } from '@gateway/errors';
import {
  forbidden,
  notFound,
  type AdminRefusal,
  awaitEdges,
  type Actor,
  type Decision,
  isIdLike,
} from '@gateway/auth-shared';
import type { ApiKey, Organization, Project } from '../model';
import type { AuthPorts } from '../ports';

export type KeyPorts = Pick<AuthPorts, 'keys' | 'leases' | 'feed' | 'addressRanges' | 'clock' | 'newId'>;

export interface KeyTarget {
  readonly actor: Actor;
  readonly organizationId: string;
  readonly keyId: string;
  /** The actor may change only keys that they own. */
  readonly onlyOwn: boolean;
}

/** A refusal unless the actor may change the key. */
export function refuseForeignKey(
  { actor, onlyOwn }: Pick<KeyTarget, 'actor' | 'onlyOwn'>,
  { owner }: Pick<ApiKey, 'owner'>,
): AdminRefusal | undefined {
  return onlyOwn && owner.id !== actor.id ? forbidden() : undefined;
}

/**
 * Writes the change that `decide` returns, and resolves once no edge can act on
 * the previous state. `decide` gets the organization's project with the id that `projectIdOf` returns. It waits even
 * if nothing changed, since an earlier call may have been cancelled while it waited.
 */
export async function changeKey(
  ports: KeyPorts,
  target: KeyTarget & { readonly projectIdOf?: (current: ApiKey) => string | undefined },
  decide: (current: ApiKey, organization: Organization, project: Project | undefined) => Decision<ApiKey>,
  signal: CancelSignal,
): Promise<ApiKey | AdminRefusal> {
  const { organizationId, keyId, projectIdOf = () => undefined } = target;
  if (!isIdLike(organizationId) || !isIdLike(keyId)) return notFound('key');
  const committed = await ports.keys.change(
    organizationId,
    keyId,
    projectIdOf,
    (current, organization, project) =>
      refuseForeignKey(target, current) ?? decide(current, organization, project),
  );
  if (!committed) return notFound('key');
  if (isRefusal(committed)) return committed;
  await awaitEdges(ports, committed.sequence, signal);
  return committed.value;
}
