import type { Actor, CreatedKey, Key, KeyResponse, Organization } from '@gateway/contracts/auth';
import { endpoints, type BodyOf } from '@gateway/dashboard-contract';
import { DashboardError } from '../dashboard-error';
import { implement, type Implementation } from '../http/implement';
import { requireKnownModels } from '../known-models';
import { changedKeySettings, UNRESTRICTED_KEY } from '../messages/bodies';
import { accepted } from '../messages/errors';
import { keyBoundsView, keyView, pageRequest, pageView } from '../messages/views';
import type { DashboardApiPorts } from '../ports';
import { EDGE_CHANGE_TIMEOUT_MS } from './organization-handlers';

/** How often a change that names no version is made anew because somebody else was quicker. */
const MAX_MERGES = 5;

export function createKeyHandlers({
  authAdmin,
  inferenceRouter,
  clock,
}: DashboardApiPorts): readonly Implementation[] {
  const { keys } = endpoints;
  const viewOf = (key: Key) => keyView(key, clock.now());

  const boundsOf = async (organizationId: string) => {
    const { outcome } = await authAdmin.getOrganization({ organizationId });
    return keyBoundsView(accepted<Organization>(outcome).limits);
  };

  /** Writes over what was read; somebody who changed it in between loses nothing of that. */
  async function update(
    target: { readonly organizationId: string; readonly keyId: string; readonly actor: Actor },
    { version, ...changes }: BodyOf<typeof keys.update>,
  ): Promise<Key> {
    for (let merges = 1; ; merges += 1) {
      const current = keyOf(await authAdmin.getKey(target));
      if (version !== undefined && version !== current.version) throw staleKey(viewOf(current));
      await requireKnownModels(inferenceRouter, changes.allowed_models, current.allowedModels);
      const settings = changedKeySettings(current, changes);
      try {
        const change = { ...target, settings, expectedVersion: current.version };
        return keyOf(await authAdmin.updateKey(change, { timeoutMs: EDGE_CHANGE_TIMEOUT_MS }));
      } catch (error) {
        const stale = error instanceof DashboardError && error.code === 'version_conflict';
        if (!stale || merges === MAX_MERGES) throw error;
      }
    }
  }

  return [
    implement(keys.list, async ({ params, query }) => {
      const organizationId = params.organization_id;
      const bounds = await boundsOf(organizationId);
      const { keys, nextPageToken } = await authAdmin.listKeys({ organizationId, ...pageRequest(query) });
      const data = keys.map((key) => ({ ...viewOf(key), activity: null }));
      return { ...pageView(data, nextPageToken), bounds };
    }),

    implement(keys.create, async ({ params, body, actor }) => {
      const organizationId = params.organization_id;
      await requireKnownModels(inferenceRouter, body.allowed_models);
      const { outcome } = await authAdmin.createKey({
        actor,
        organizationId,
        settings: changedKeySettings(UNRESTRICTED_KEY, body),
      });
      const { key, secret } = accepted<CreatedKey>(outcome);
      if (!key) throw new Error('a created key is missing');
      return { key: viewOf(key), secret, bounds: await boundsOf(organizationId) };
    }),

    implement(keys.get, async ({ params }) => {
      const target = { organizationId: params.organization_id, keyId: params.key_id };
      const key = viewOf(keyOf(await authAdmin.getKey(target)));
      return { key: { ...key, activity: null }, bounds: await boundsOf(target.organizationId) };
    }),

    implement(keys.update, async ({ params, body, actor }) => {
      const target = { organizationId: params.organization_id, keyId: params.key_id, actor };
      return { key: viewOf(await update(target, body)) };
    }),

    implement(keys.revoke, async ({ params, actor }) => {
      const target = { organizationId: params.organization_id, keyId: params.key_id, actor };
      const revoked = await authAdmin.revokeKey(target, { timeoutMs: EDGE_CHANGE_TIMEOUT_MS });
      return { key: viewOf(keyOf(revoked)) };
    }),
  ];
}

function keyOf({ outcome }: KeyResponse): Key {
  return accepted<Key>(outcome);
}

function staleKey(current: unknown): DashboardError {
  return new DashboardError('version_conflict', { metadata: { current } });
}
