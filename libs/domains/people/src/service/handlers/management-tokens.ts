import {
  ManagementTokenAccess,
  ManagementTokenState,
  type AuthAdminDefinition,
  type ManagementToken as ManagementTokenMessage,
} from '@gateway/contracts/auth';
import { isRefusal } from '@gateway/errors';
import { personOf, type RpcHandlers } from '@gateway/rpc';
import type * as base from '@gateway/base';
import type { UnixMs } from '@gateway/base';
import { readPage } from '@gateway/auth-shared';
import { missing, refusalMessage } from '@gateway/auth-shared/service';
import { readPermission } from '../../core/access/authorize';
import { authorizeManagementToken } from '../../core/management-tokens/authorize-management-token';
import { createManagementToken } from '../../core/management-tokens/create-management-token';
import {
  stateOfManagementToken,
  type ManagementToken,
  type ManagementTokenState as State,
} from '../../core/management-tokens/management-token';
import { revokeManagementToken } from '../../core/management-tokens/revoke-management-token';
import type { PeoplePorts } from '../../core/ports';
import { organizationRoleMessage, organizationRoleOf } from '../messages';

type ManagementTokenHandlers = Pick<
  RpcHandlers<typeof AuthAdminDefinition>,
  'authorizeManagementToken' | 'createManagementToken' | 'listManagementTokens' | 'revokeManagementToken'
>;

/** Management tokens: authorization of their requests, and their administration by people. */
export function createManagementTokenHandlers(ports: PeoplePorts): ManagementTokenHandlers {
  const messageOf = (token: ManagementToken) => managementTokenMessage(token, ports.clock.now());
  return {
    async authorizeManagementToken({ permission, ...request }) {
      const wanted = { ...request, permission: readPermission(permission) };
      const outcome = await authorizeManagementToken(ports, {
        ...wanted,
        organizationId: request.organizationId,
      });
      switch (outcome.kind) {
        case 'allowed': {
          const { token, label } = outcome;
          return { outcome: { $case: 'allowed', value: { token: messageOf(token), label } } };
        }
        case 'not_valid':
          return { outcome: { $case: 'notValid', value: {} } };
        case 'forbidden':
          return { outcome: { $case: 'forbidden', value: {} } };
        case 'no_such_organization':
          return { outcome: { $case: 'noSuchOrganization', value: {} } };
        case 'too_many_attempts': {
          const { retryAfterMs } = outcome;
          return { outcome: { $case: 'tooManyAttempts', value: { retryAfterMs } } };
        }
      }
    },

    async createManagementToken({ organizationId, name, role, access, expiresOn }, context) {
      const created = await createManagementToken(ports, {
        actor: personOf(context),
        ...{ organizationId, name, expiresOn },
        role: role === undefined ? undefined : organizationRoleOf(role),
        access: accessOf(access),
      });
      if (isRefusal(created)) return { outcome: { $case: 'refusal', value: refusalMessage(created) } };
      const { token, secret } = created;
      return { outcome: { $case: 'created', value: { token: messageOf(token), secret } } };
    },

    async listManagementTokens({ organizationId, pageSize, pageToken }) {
      const page = await readPage(pageSize, pageToken, (request) =>
        ports.managementTokens.list(organizationId, request),
      );
      return { tokens: page.items.map(messageOf), nextPageToken: page.nextPageToken };
    },

    async revokeManagementToken({ organizationId, tokenId }, context) {
      const revoked = await revokeManagementToken(ports, {
        ...{ organizationId, tokenId },
        actor: personOf(context),
      });
      return isRefusal(revoked)
        ? { outcome: { $case: 'refusal', value: refusalMessage(revoked) } }
        : { outcome: { $case: 'token', value: messageOf(revoked) } };
    },
  };
}

const MESSAGE_OF_ACCESS: Readonly<Record<base.ManagementTokenAccess, ManagementTokenAccess>> = {
  read: ManagementTokenAccess.MANAGEMENT_TOKEN_ACCESS_READ,
  read_write: ManagementTokenAccess.MANAGEMENT_TOKEN_ACCESS_READ_WRITE,
};

const MESSAGE_OF_STATE: Readonly<Record<State, ManagementTokenState>> = {
  active: ManagementTokenState.MANAGEMENT_TOKEN_STATE_ACTIVE,
  expired: ManagementTokenState.MANAGEMENT_TOKEN_STATE_EXPIRED,
  revoked: ManagementTokenState.MANAGEMENT_TOKEN_STATE_REVOKED,
  creator_without_access: ManagementTokenState.MANAGEMENT_TOKEN_STATE_CREATOR_WITHOUT_ACCESS,
};

function accessOf(access: ManagementTokenAccess): base.ManagementTokenAccess {
  if (access === ManagementTokenAccess.MANAGEMENT_TOKEN_ACCESS_READ) return 'read';
  if (access === ManagementTokenAccess.MANAGEMENT_TOKEN_ACCESS_READ_WRITE) return 'read_write';
  throw missing('access');
}

function managementTokenMessage(token: ManagementToken, now: UnixMs): ManagementTokenMessage {
  const { id, scope, name, last4, access, createdAt, expiresOn, revokedAt, lastUsedAt, creator } = token;
  return {
    ...{ id, name, last4, expiresOn },
    organizationId: scope?.organizationId,
    role: scope && organizationRoleMessage(scope.role),
    access: MESSAGE_OF_ACCESS[access],
    createdBy: creator.email,
    createdByOperator: creator.memberRole === 'operator',
    createdUnixMs: BigInt(createdAt),
    revokedUnixMs: revokedAt === undefined ? undefined : BigInt(revokedAt),
    lastUsedUnixMs: lastUsedAt === undefined ? undefined : BigInt(lastUsedAt),
    state: MESSAGE_OF_STATE[stateOfManagementToken(token, now)],
  };
}
