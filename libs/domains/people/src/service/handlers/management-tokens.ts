import {
  ManagementTokenAccess,
  type AuthAdminDefinition,
  type ManagementToken as ManagementTokenMessage,
} from '@gateway/contracts/auth';
import type { RpcHandlers } from '@gateway/rpc';
import { readPermission } from '../../core/access/authorize';
import { authorizeManagementToken } from '../../core/management-tokens/authorize-management-token';
import type { ManagementToken } from '../../core/management-tokens/management-token';
import type { PeoplePorts } from '../../core/ports';
import { organizationRoleMessage } from '../messages';

type ManagementTokenHandlers = Pick<RpcHandlers<typeof AuthAdminDefinition>, 'authorizeManagementToken'>;

/** Authorization of requests with management tokens. */
export function createManagementTokenHandlers(ports: PeoplePorts): ManagementTokenHandlers {
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
          return { outcome: { $case: 'allowed', value: { token: managementTokenMessage(token), label } } };
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
  };
}

/** Only what the authorized request needs of the token. */
function managementTokenMessage({ id, scope, access }: ManagementToken): ManagementTokenMessage {
  return {
    id,
    organizationId: scope?.organizationId,
    role: scope && organizationRoleMessage(scope.role),
    access:
      access === 'read'
        ? ManagementTokenAccess.MANAGEMENT_TOKEN_ACCESS_READ
        : ManagementTokenAccess.MANAGEMENT_TOKEN_ACCESS_READ_WRITE,
  };
}
