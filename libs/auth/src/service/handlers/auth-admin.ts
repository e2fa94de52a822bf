import type { AuthAdminDefinition, KeyResponse, OrganizationResponse } from '@gateway/contracts/auth';
import type { RpcHandlers } from '@gateway/rpc';
import { isRefusal } from '@gateway/errors';
import { notFound, type AdminRefusal } from '../../core/admin-refusal';
import { createKey } from '../../core/keys/create-key';
import { createOrganization } from '../../core/organizations/create-organization';
import { ensureMember } from '../../core/sign-in/ensure-member';
import type { ApiKey, Organization } from '../../core/model';
import { readPage } from '../../core/paging';
import type { AuthPorts } from '../../core/ports';
import { completeAudit, recordAudit } from '../../core/audit/record-audit';
import { revokeKey } from '../../core/keys/revoke-key';
import { getSession, signOut } from '../../core/sign-in/sessions';
import { setOrganizationLimits } from '../../core/organizations/set-organization-limits';
import { setOrganizationSuspended } from '../../core/organizations/set-organization-suspended';
import { isIdLike } from '../../core/text-rules';
import { updateKey } from '../../core/keys/update-key';
import type { AuthMetrics } from '../metrics';
import {
  actorOf,
  auditEntryMessage,
  keyMessage,
  keySettingsOf,
  memberMessage,
  memberRoleOf,
  organizationLimitsOf,
  organizationMessage,
  refusalMessage,
} from '../messages';
import { createSignInHandler } from './sign-in';

/** What the dashboard's API calls. */
export function createAuthAdminHandlers(
  ports: AuthPorts,
  metrics: AuthMetrics,
): RpcHandlers<typeof AuthAdminDefinition> {
  /** Measures what a caller waits for edges. */
  async function timed<Result>(work: Promise<Result>): Promise<Result> {
    const end = metrics.edgeWaitSeconds.startTimer();
    try {
      return await work;
    } finally {
      end();
    }
  }

  return {
    async ensureMember({ actor, email, password, role, resetPassword }) {
      const ensured = await ensureMember(ports, {
        actor: actorOf(actor),
        email,
        password,
        role: memberRoleOf(role),
        resetPassword,
      });
      return { ...ensured, member: memberMessage(ensured.member) };
    },

    signIn: createSignInHandler(ports, metrics),

    async getSession({ sessionToken }) {
      const session = await getSession(ports, sessionToken);
      return {
        member: session && memberMessage(session.member),
        expiresUnixMs: BigInt(session?.expiresAt ?? 0),
      };
    },

    async signOut({ sessionToken }) {
      await signOut(ports, sessionToken);
      return {};
    },

    async createOrganization({ actor, name, limits }) {
      return organizationResponse(
        await createOrganization(ports, {
          actor: actorOf(actor),
          name,
          ...(limits ? { limits: organizationLimitsOf(limits) } : {}),
        }),
      );
    },

    async getOrganization({ organizationId }) {
      const found = isIdLike(organizationId) ? await ports.organizations.find(organizationId) : undefined;
      return organizationResponse(found ?? notFound('organization'));
    },

    async listOrganizations({ pageSize, pageToken }) {
      const page = await readPage(pageSize, pageToken, (request) => ports.organizations.list(request));
      return { organizations: page.items.map(organizationMessage), nextPageToken: page.nextPageToken };
    },

    async setOrganizationLimits({ actor, organizationId, limits, expectedVersion }, { signal }) {
      const change = {
        actor: actorOf(actor),
        organizationId,
        limits: organizationLimitsOf(limits ?? { multipleCompletions: false }),
        ...(expectedVersion === undefined ? {} : { expectedVersion }),
      };
      return organizationResponse(await timed(setOrganizationLimits(ports, change, signal)));
    },

    async setOrganizationSuspended({ actor, organizationId, suspended, reason }, { signal }) {
      const change = {
        actor: actorOf(actor),
        organizationId,
        suspended,
        ...(reason === undefined ? {} : { reason }),
      };
      return organizationResponse(await timed(setOrganizationSuspended(ports, change, signal)));
    },

    async createKey({ actor, organizationId, settings }) {
      const created = await createKey(ports, {
        actor: actorOf(actor),
        organizationId,
        settings: keySettingsOf(settings),
      });
      if (isRefusal(created)) return { outcome: { $case: 'refusal', value: refusalMessage(created) } };
      const { key, secret } = created;
      return { outcome: { $case: 'created', value: { key: keyMessage(key), secret } } };
    },

    async listKeys({ organizationId, pageSize, pageToken }) {
      const page = await readPage(pageSize, pageToken, async (request) =>
        isIdLike(organizationId) ? ports.keys.list(organizationId, request) : [],
      );
      return { keys: page.items.map(keyMessage), nextPageToken: page.nextPageToken };
    },

    async getKey({ organizationId, keyId }) {
      const known = isIdLike(organizationId) && isIdLike(keyId);
      return keyResponse((known && (await ports.keys.find(organizationId, keyId))) || notFound('key'));
    },

    async updateKey({ actor, organizationId, keyId, settings, expectedVersion }, { signal }) {
      const change = {
        actor: actorOf(actor),
        organizationId,
        keyId,
        settings: keySettingsOf(settings),
        ...(expectedVersion === undefined ? {} : { expectedVersion }),
      };
      return keyResponse(await timed(updateKey(ports, change, signal)));
    },

    async revokeKey({ actor, organizationId, keyId }, { signal }) {
      return keyResponse(
        await timed(revokeKey(ports, { actor: actorOf(actor), organizationId, keyId }, signal)),
      );
    },

    async recordAudit({ actor, organizationId, action, target, detailsJson }) {
      const entry = { actor: actorOf(actor), action, target, detailsJson };
      return {
        auditId: await recordAudit(
          ports,
          organizationId === undefined ? entry : { ...entry, organizationId },
        ),
      };
    },

    async completeAudit({ auditId, succeeded }) {
      await completeAudit(ports, auditId, succeeded);
      return {};
    },

    async listAudit({ organizationId, pageSize, pageToken }) {
      const page = await readPage(pageSize, pageToken, async (request) =>
        organizationId === undefined || isIdLike(organizationId)
          ? ports.audit.list(organizationId, request)
          : [],
      );
      return { entries: page.items.map(auditEntryMessage), nextPageToken: page.nextPageToken };
    },
  };
}

function organizationResponse(result: Organization | AdminRefusal): OrganizationResponse {
  return isRefusal(result)
    ? { outcome: { $case: 'refusal', value: refusalMessage(result) } }
    : { outcome: { $case: 'organization', value: organizationMessage(result) } };
}

function keyResponse(result: ApiKey | AdminRefusal): KeyResponse {
  return isRefusal(result)
    ? { outcome: { $case: 'refusal', value: refusalMessage(result) } }
    : { outcome: { $case: 'key', value: keyMessage(result) } };
}
