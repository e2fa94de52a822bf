import type { UnixMs } from '@gateway/base';
import {
  SecretToEnd,
  type AuthAdminDefinition,
  type CreateKeyResponse,
  type KeyResponse,
} from '@gateway/contracts/auth';
import type { ActingPerson } from '@gateway/actors';
import { actorOf, personOf, type RpcHandlers } from '@gateway/rpc';
import { GatewayError, isRefusal } from '@gateway/errors';
import { notFound, type AdminRefusal, readPage, isIdLike } from '@gateway/auth-shared';
import { refuseUnlessPermitted, type createPeopleHandlers, type PermissionPorts } from '@gateway/people';
import { createKey, type CreatedKey } from '../../core/keys/create-key';
import { createSessionKey } from '../../core/keys/create-session-key';
import { endPreviousSecret, rotateKey } from '../../core/keys/rotate-key';
import type { ApiKey } from '../../core/model';
import type { AuthPorts } from '../../core/ports';
import { revokeKey } from '../../core/keys/revoke-key';
import { ensureOrganization } from '../../core/organizations/ensure-organization';
import { transferKey } from '../../core/keys/transfer-key';
import { updateKey } from '../../core/keys/update-key';
import { findKeyOwner } from './find-key-owner';
import { timeEdgeWait, type AuthMetrics } from '../metrics';
import { keyFilterOf, keyMessage, keySettingsOf } from '../messages';
import { refusalMessage } from '@gateway/auth-shared/service';

const SECRET_OF_MESSAGE: Readonly<Partial<Record<SecretToEnd, 'previous' | 'current'>>> = {
  [SecretToEnd.SECRET_TO_END_PREVIOUS]: 'previous',
  [SecretToEnd.SECRET_TO_END_CURRENT]: 'current',
};

const MAX_KEY_IDS = 200;

/** The methods of AuthAdmin for keys and the demo. The library `people` implements the others. */
export function createAuthAdminHandlers(
  ports: AuthPorts,
  people: PermissionPorts,
  metrics: AuthMetrics,
): Omit<RpcHandlers<typeof AuthAdminDefinition>, keyof ReturnType<typeof createPeopleHandlers>> {
  const timed = <Result>(work: Promise<Result>) => timeEdgeWait(metrics, work);

  /** Which keys the actor may change: all, or only their own. A refusal: none. */
  async function changeableKeys(
    actor: ActingPerson,
    organizationId: string,
  ): Promise<{ readonly onlyOwn: boolean } | AdminRefusal> {
    const refusal = await refuseUnlessPermitted(people, actor, 'keys:manage_own', organizationId);
    if (refusal) return refusal;
    const notAll = await refuseUnlessPermitted(people, actor, 'keys:manage', organizationId);
    return { onlyOwn: notAll !== undefined };
  }

  return {
    async ensureOrganization({ name }, context) {
      const actor = actorOf(context);
      const refusal = await refuseUnlessPermitted(people, actor, 'platform:organizations');
      const ensured = refusal ?? (await ensureOrganization(ports, actor, name));
      if (isRefusal(ensured)) throw new GatewayError('invalid_request', { message: ensured.message });
      return { organizationId: ensured.id };
    },

    async createKey({ organizationId, settings }, context) {
      const actor = personOf(context);
      const created =
        (await refuseUnlessPermitted(people, actor, 'keys:manage_own', organizationId)) ??
        (await createKey(ports, { actor, organizationId, settings: keySettingsOf(settings) }));
      return createdKeyResponse(created);
    },

    async createSessionKey({ organizationId, settings, sessionId, lifetimeMs }, context) {
      const actor = personOf(context);
      const refusal = await refuseUnlessPermitted(people, actor, 'playground:use', organizationId);
      if (refusal) return createdKeyResponse(refusal);
      const wanted = { actor, organizationId, settings: keySettingsOf(settings), sessionId, lifetimeMs };
      return createdKeyResponse(await timed(createSessionKey(ports, wanted, context.signal)));
    },

    async listKeys(request) {
      const { organizationId } = request;
      if ((request.filter?.keyIds.length ?? 0) > MAX_KEY_IDS) {
        const message = `key_ids must have at most ${MAX_KEY_IDS} entries.`;
        throw new GatewayError('invalid_request', { message, param: 'key_ids' });
      }
      const filter = keyFilterOf(request);
      const page = await readPage(request.pageSize, request.pageToken, async (wanted) =>
        isIdLike(organizationId) ? ports.keys.list(organizationId, wanted, filter, ports.clock.now()) : [],
      );
      return { keys: page.items.map(keyMessage), nextPageToken: page.nextPageToken };
    },

    async getKey({ organizationId, keyId }) {
      const known = isIdLike(organizationId) && isIdLike(keyId);
      return keyResponse((known && (await ports.keys.find(organizationId, keyId))) || notFound('key'));
    },

    async updateKey({ organizationId, keyId, settings, expectedVersion }, context) {
      const actor = personOf(context);
      const changeable = await changeableKeys(actor, organizationId);
      if (isRefusal(changeable)) return keyResponse(changeable);
      const change = {
        ...{ actor, organizationId, keyId },
        ...changeable,
        settings: keySettingsOf(settings),
        ...(expectedVersion === undefined ? {} : { expectedVersion }),
      };
      return keyResponse(await timed(updateKey(ports, change, context.signal)));
    },

    async revokeKey({ organizationId, keyId }, context) {
      const actor = personOf(context);
      const changeable = await changeableKeys(actor, organizationId);
      if (isRefusal(changeable)) return keyResponse(changeable);
      return keyResponse(
        await timed(revokeKey(ports, { actor, organizationId, keyId, ...changeable }, context.signal)),
      );
    },

    async transferKey({ organizationId, keyId, memberId }, context) {
      const actor = personOf(context);
      const owner =
        (await refuseUnlessPermitted(people, actor, 'keys:manage', organizationId)) ??
        (await findKeyOwner(people, organizationId, memberId));
      if (isRefusal(owner)) return keyResponse(owner);
      const transfer = { actor, organizationId, keyId, owner, onlyOwn: false };
      return keyResponse(await timed(transferKey(ports, transfer, context.signal)));
    },

    async rotateKey({ organizationId, keyId, previousWorksUntilUnixMs, endsNow }, context) {
      const actor = personOf(context);
      const changeable = await changeableKeys(actor, organizationId);
      if (isRefusal(changeable)) return createdKeyResponse(changeable);
      const ends = SECRET_OF_MESSAGE[endsNow];
      const request = {
        ...{ actor, organizationId, keyId, ...changeable },
        ...(previousWorksUntilUnixMs === undefined
          ? {}
          : { previousWorksUntil: Number(previousWorksUntilUnixMs) as UnixMs }),
        ...(ends === undefined ? {} : { endsNow: ends }),
      };
      return createdKeyResponse(await timed(rotateKey(ports, request, context.signal)));
    },

    async endPreviousSecret({ organizationId, keyId }, context) {
      const actor = personOf(context);
      const changeable = await changeableKeys(actor, organizationId);
      if (isRefusal(changeable)) return keyResponse(changeable);
      return keyResponse(
        await timed(
          endPreviousSecret(ports, { actor, organizationId, keyId, ...changeable }, context.signal),
        ),
      );
    },
  };
}

function createdKeyResponse(created: CreatedKey | AdminRefusal): CreateKeyResponse {
  if (isRefusal(created)) return { outcome: { $case: 'refusal', value: refusalMessage(created) } };
  const { key, secret } = created;
  return { outcome: { $case: 'created', value: { key: keyMessage(key), secret } } };
}

function keyResponse(result: ApiKey | AdminRefusal): KeyResponse {
  return isRefusal(result)
    ? { outcome: { $case: 'refusal', value: refusalMessage(result) } }
    : { outcome: { $case: 'key', value: keyMessage(result) } };
}
