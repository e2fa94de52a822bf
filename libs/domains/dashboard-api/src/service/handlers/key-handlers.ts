import { pageRequest, pageView } from '@gateway/admin-calls';
import {
  KeyState,
  SecretToEnd,
  type CreatedKey,
  type CreateKeyResponse,
  type Key,
  type KeyResponse,
} from '@gateway/contracts/auth';
import {
  type BodyOf,
  DashboardError,
  endpoints,
  parts,
  EDGE_CHANGE_TIMEOUT_MS,
} from '@gateway/dashboard-contract';
import { implement, type Implementation } from '../http/implement';
import { activityOf } from '../key-activity';
import { requireKnownModels } from '../known-models';
import { changedKeySettings, UNRESTRICTED_KEY } from '../messages/bodies';
import { unwrap } from '../messages/errors';
import { keyView } from '../messages/views';
import type { DashboardApiPorts } from '../ports';

/** Attempts at a change without a version when concurrent changes win. */
const MAX_UPDATE_ATTEMPTS = 5;

const FOR_SESSION = { standard: false, playground: true, all: undefined } as const;

const KEY_STATES = {
  any: KeyState.KEY_STATE_UNSPECIFIED,
  active: KeyState.KEY_STATE_ACTIVE,
  expired: KeyState.KEY_STATE_EXPIRED,
  revoked: KeyState.KEY_STATE_REVOKED,
} as const;

const SECRETS_TO_END = {
  unspecified: SecretToEnd.SECRET_TO_END_UNSPECIFIED,
  previous: SecretToEnd.SECRET_TO_END_PREVIOUS,
  current: SecretToEnd.SECRET_TO_END_CURRENT,
} as const;

export function createKeyHandlers(ports: DashboardApiPorts): readonly Implementation[] {
  const { owners, authAdmin, inferenceRouter, clock } = ports;
  const { keys } = endpoints;
  const viewOf = (key: Key, isOperator: boolean) => keyView(key, { now: clock.now(), isOperator });

  const boundsOf = async (organizationId: string) => {
    const params = { organization_id: organizationId };
    const { limits } = await owners.auth.call(parts.effectiveLimits, { params });
    const { max_output_tokens: _tokens, multiple_completions: _completions, ...bounds } = limits;
    return bounds;
  };

  /**
   * Merges the changes into the current key with optimistic locking, so that concurrent changes are not
   * lost.
   */
  async function update(
    target: { readonly organizationId: string; readonly keyId: string },
    { version, ...changes }: BodyOf<typeof keys.update>,
    isOperator: boolean,
  ): Promise<Key> {
    for (let attempts = 1; ; attempts += 1) {
      const current = keyOf(await authAdmin.getKey(target));
      if (version !== undefined && version !== current.version) throw staleKey(viewOf(current, isOperator));
      await requireKnownModels(inferenceRouter, changes.allowed_models, current.allowedModels);
      const settings = changedKeySettings(current, changes);
      try {
        const change = { ...target, settings, expectedVersion: current.version };
        return keyOf(await authAdmin.updateKey(change, { timeoutMs: EDGE_CHANGE_TIMEOUT_MS }));
      } catch (error) {
        const stale = error instanceof DashboardError && error.code === 'version_conflict';
        if (!stale || attempts === MAX_UPDATE_ATTEMPTS) throw error;
      }
    }
  }

  async function createdView(organizationId: string, { outcome }: CreateKeyResponse, isOperator: boolean) {
    const { key, secret } = unwrap<CreatedKey>(outcome);
    if (!key) throw new Error('the response has no key');
    return { key: viewOf(key, isOperator), secret, bounds: await boundsOf(organizationId) };
  }

  return [
    implement(keys.list, async ({ params, query, signedIn, isOperator }) => {
      const organizationId = params.organization_id;
      const bounds = await boundsOf(organizationId);
      const { keys, nextPageToken } = await authAdmin.listKeys({
        ...{ organizationId, ...pageRequest(query) },
        forSession: FOR_SESSION[query.kind],
        filter: {
          search: query.search ?? '',
          state: KEY_STATES[query.state ?? 'any'],
          keyIds: query.ids?.split(',') ?? [],
          ownerId: query.owner === 'me' ? (signedIn?.member.id ?? '') : undefined,
          ownerHasLeft: query.owner === 'left',
          projectId: query.project_id,
        },
      });
      const activity = await activityOf(
        ports,
        organizationId,
        keys.map(({ id }) => id),
      );
      const data = keys.map((key) => ({
        ...viewOf(key, isOperator),
        activity: activity.get(key.id) ?? null,
      }));
      return { ...pageView(data, nextPageToken), bounds };
    }),

    implement(keys.create, async ({ params, body, isOperator }) => {
      const organizationId = params.organization_id;
      await requireKnownModels(inferenceRouter, body.allowed_models);
      const settings = changedKeySettings(UNRESTRICTED_KEY, body);
      return createdView(organizationId, await authAdmin.createKey({ organizationId, settings }), isOperator);
    }),

    implement(keys.get, async ({ params, isOperator }) => {
      const target = { organizationId: params.organization_id, keyId: params.key_id };
      const key = viewOf(keyOf(await authAdmin.getKey(target)), isOperator);
      const activity = await activityOf(ports, target.organizationId, [target.keyId]);
      return {
        key: { ...key, activity: activity.get(key.id) ?? null },
        bounds: await boundsOf(target.organizationId),
      };
    }),

    implement(keys.update, async ({ params, body, isOperator }) => {
      const target = { organizationId: params.organization_id, keyId: params.key_id };
      return { key: viewOf(await update(target, body, isOperator), isOperator) };
    }),

    implement(keys.revoke, async ({ params, isOperator }) => {
      const target = { organizationId: params.organization_id, keyId: params.key_id };
      const revoked = await authAdmin.revokeKey(target, { timeoutMs: EDGE_CHANGE_TIMEOUT_MS });
      return { key: viewOf(keyOf(revoked), isOperator) };
    }),

    implement(keys.transfer, async ({ params, body, isOperator }) => {
      const target = { organizationId: params.organization_id, keyId: params.key_id };
      const transfer = { ...target, memberId: body.member_id };
      const transferred = await authAdmin.transferKey(transfer, { timeoutMs: EDGE_CHANGE_TIMEOUT_MS });
      return { key: viewOf(keyOf(transferred), isOperator) };
    }),

    implement(keys.rotate, async ({ params, body, isOperator }) => {
      const organizationId = params.organization_id;
      const until = body.previous_works_until;
      const rotation = {
        ...{ organizationId, keyId: params.key_id },
        previousWorksUntilUnixMs: until === null ? undefined : BigInt(Date.parse(until)),
        endsNow: SECRETS_TO_END[body.ends_now ?? 'unspecified'],
      };
      const rotated = await authAdmin.rotateKey(rotation, { timeoutMs: EDGE_CHANGE_TIMEOUT_MS });
      return createdView(organizationId, rotated, isOperator);
    }),

    implement(keys.endPreviousSecret, async ({ params, isOperator }) => {
      const target = { organizationId: params.organization_id, keyId: params.key_id };
      const ended = await authAdmin.endPreviousSecret(target, { timeoutMs: EDGE_CHANGE_TIMEOUT_MS });
      return { key: viewOf(keyOf(ended), isOperator) };
    }),
  ];
}

function keyOf({ outcome }: KeyResponse): Key {
  return unwrap<Key>(outcome);
}

function staleKey(current: unknown): DashboardError {
  return new DashboardError('version_conflict', { metadata: { current } });
}
