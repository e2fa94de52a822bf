import type { UnixMs } from '@gateway/base';
import {
  SecretToEnd,
  type AuthAdminDefinition,
  type CreateKeyResponse,
  type KeyResponse,
  type OrganizationResponse,
} from '@gateway/contracts/auth';
import type { ActingPerson, CallActor } from '@gateway/actors';
import { actorOf, personOf, type RpcHandlers } from '@gateway/rpc';
import { GatewayError, isRefusal } from '@gateway/errors';
import { notFound, type AdminRefusal, readPage, readSearchText, isIdLike } from '@gateway/auth-shared';
import {
  refuseUnlessConfirmed,
  refuseUnlessPermitted,
  type createPeopleHandlers,
  type PermissionPorts,
  type PeoplePorts,
} from '@gateway/people';
import { createKey, type CreatedKey } from '../../core/keys/create-key';
import { createSessionKey } from '../../core/keys/create-session-key';
import { endPreviousSecret, rotateKey } from '../../core/keys/rotate-key';
import { createOrganization } from '../../core/organizations/create-organization';
import type { ApiKey, Organization } from '../../core/model';
import type { AuthPorts } from '../../core/ports';
import { revokeKey } from '../../core/keys/revoke-key';
import {
  setOrganizationCeilings,
  setOrganizationLimits,
} from '../../core/organizations/set-organization-limits';
import { setElasticHolds } from '../../core/organizations/set-elastic-holds';
import { setSecondFactorRequired } from '../../core/organizations/set-second-factor-required';
import { setTargetRules } from '../../core/organizations/set-target-rules';
import { setOrganizationSuspended } from '../../core/organizations/set-organization-suspended';
import { transferKey } from '../../core/keys/transfer-key';
import { updateKey } from '../../core/keys/update-key';
import { findKeyOwner } from './find-key-owner';
import { timeEdgeWait, type AuthMetrics } from '../metrics';
import type { createProjectHandlers } from './projects';
import {
  auditEntryMessage,
  auditFilterOf,
  keyFilterOf,
  keyMessage,
  keySettingsOf,
  organizationLimitsOf,
  organizationMessage,
} from '../messages';
import { missing, refusalMessage } from '@gateway/auth-shared/service';

const SECRET_OF_MESSAGE: Readonly<Partial<Record<SecretToEnd, 'previous' | 'current'>>> = {
  [SecretToEnd.SECRET_TO_END_PREVIOUS]: 'previous',
  [SecretToEnd.SECRET_TO_END_CURRENT]: 'current',
};

const MAX_KEY_IDS = 200;

/** The organizations that someone sees who does not see all. */
function ownOrganizationsOf({ id, organization, tokenAccess }: CallActor) {
  return tokenAccess === undefined ? { memberId: id } : { organizationId: organization?.id ?? '' };
}

type OtherHandlers =
  keyof ReturnType<typeof createPeopleHandlers> | keyof ReturnType<typeof createProjectHandlers>;

/**
 * The methods of AuthAdmin for organizations, keys and the audit log. Those for projects are in `projects.ts`; the
 * library `people` implements the others.
 */
export function createAuthAdminHandlers(
  ports: AuthPorts,
  people: PermissionPorts & Pick<PeoplePorts, 'sessions'>,
  metrics: AuthMetrics,
): Omit<RpcHandlers<typeof AuthAdminDefinition>, OtherHandlers> {
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
    async createOrganization({ name, limits, ceilings }, context) {
      const actor = actorOf(context);
      const refusal = await refuseUnlessPermitted(people, actor, 'platform:organizations');
      if (refusal) return organizationResponse(refusal);
      const wanted = {
        actor,
        name,
        ...(limits ? { limits: organizationLimitsOf(limits) } : {}),
        ...(ceilings ? { ceilings: organizationLimitsOf(ceilings) } : {}),
      };
      return organizationResponse(await createOrganization(ports, wanted));
    },

    async getOrganization({ organizationId }, context) {
      const actor = actorOf(context);
      const refusal = await refuseUnlessPermitted(people, actor, 'organization:read', organizationId);
      if (refusal) return organizationResponse(refusal);
      const found = isIdLike(organizationId) ? await ports.organizations.find(organizationId) : undefined;
      return organizationResponse(found ?? notFound('organization'));
    },

    async listOrganizations({ pageSize, pageToken, search }, context) {
      const actor = actorOf(context);
      const seesAll = !(await refuseUnlessPermitted(people, actor, 'platform:organizations'));
      const text = readSearchText(search);
      const filter = {
        ...(seesAll ? {} : ownOrganizationsOf(actor)),
        ...(text === undefined ? {} : { search: text }),
      };
      const page = await readPage(pageSize, pageToken, (request) =>
        ports.organizations.list(request, filter),
      );
      return { organizations: page.items.map(organizationMessage), nextPageToken: page.nextPageToken };
    },

    async setOrganizationLimits({ organizationId, limits, expectedVersion }, context) {
      const actor = actorOf(context);
      const refusal = await refuseUnlessPermitted(people, actor, 'organization:limits', organizationId);
      if (refusal) return organizationResponse(refusal);
      const change = {
        actor,
        organizationId,
        limits: organizationLimitsOf(limits ?? { multipleCompletions: false }),
        ...(expectedVersion === undefined ? {} : { expectedVersion }),
      };
      return organizationResponse(await timed(setOrganizationLimits(ports, change, context.signal)));
    },

    async setOrganizationCeilings({ organizationId, ceilings, expectedVersion }, context) {
      const actor = actorOf(context);
      const refusal = await refuseUnlessPermitted(people, actor, 'platform:organizations', organizationId);
      if (refusal) return organizationResponse(refusal);
      // An absent message would remove every ceiling.
      if (!ceilings) throw missing('ceilings');
      const change = {
        actor,
        organizationId,
        ceilings: organizationLimitsOf(ceilings),
        ...(expectedVersion === undefined ? {} : { expectedVersion }),
      };
      return organizationResponse(await timed(setOrganizationCeilings(ports, change, context.signal)));
    },

    async setTargetRules({ organizationId, targetRules: rules, expectedVersion }, context) {
      const actor = personOf(context);
      const refusal = await refuseUnlessPermitted(people, actor, 'organization:targets', organizationId);
      if (refusal) return organizationResponse(refusal);
      // An absent message would lift every restriction.
      if (!rules) throw missing('target_rules');
      const change = {
        ...{ actor, organizationId, rules },
        ...(expectedVersion === undefined ? {} : { expectedVersion }),
      };
      return organizationResponse(await timed(setTargetRules(ports, change, context.signal)));
    },

    async setSecondFactorRequired({ organizationId, required }, context) {
      const actor = personOf(context);
      const refusal = await refuseUnlessConfirmed(people, actor, 'organization:security', organizationId);
      if (refusal) return organizationResponse(refusal);
      const change = { actor, organizationId, required };
      return organizationResponse(await timed(setSecondFactorRequired(ports, change, context.signal)));
    },

    async setElasticHolds({ organizationId, enabled }, context) {
      const actor = actorOf(context);
      const refusal = await refuseUnlessPermitted(people, actor, 'organization:limits', organizationId);
      if (refusal) return organizationResponse(refusal);
      const change = { actor, organizationId, enabled };
      return organizationResponse(await timed(setElasticHolds(ports, change, context.signal)));
    },

    async setOrganizationSuspended({ organizationId, suspended, reason }, context) {
      const actor = actorOf(context);
      const refusal = await refuseUnlessPermitted(people, actor, 'platform:organizations', organizationId);
      if (refusal) return organizationResponse(refusal);
      const change = {
        actor,
        organizationId,
        suspended,
        ...(reason === undefined ? {} : { reason }),
      };
      return organizationResponse(await timed(setOrganizationSuspended(ports, change, context.signal)));
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

    recordAudit: closed,
    completeAudit: closed,

    async listAudit({ pageSize, pageToken, ...filter }) {
      const { organizationId } = filter;
      const page = await readPage(pageSize, pageToken, async (request) =>
        organizationId === undefined || isIdLike(organizationId)
          ? ports.audit.list(auditFilterOf(filter), request)
          : [],
      );
      return { entries: page.items.map(auditEntryMessage), nextPageToken: page.nextPageToken };
    },
  };
}

/** No service may call it; the contract keeps the name until the next release. */
function closed(): never {
  throw new Error('the method is closed');
}

function organizationResponse(result: Organization | AdminRefusal): OrganizationResponse {
  return isRefusal(result)
    ? { outcome: { $case: 'refusal', value: refusalMessage(result) } }
    : { outcome: { $case: 'organization', value: organizationMessage(result) } };
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
