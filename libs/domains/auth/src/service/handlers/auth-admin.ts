import type { AuthAdminDefinition } from '@gateway/contracts/auth';
import { GatewayError, isRefusal } from '@gateway/errors';
import { refuseUnlessPermitted, type PermissionPorts } from '@gateway/people';
import { actorOf, personOf, type RpcHandlers } from '@gateway/rpc';
import { createKey } from '../../core/keys/create-key';
import { SCOPES } from '../../core/model';
import { ensureOrganization } from '../../core/organizations/ensure-organization';
import type { AuthPorts } from '../../core/ports';

/** The methods of AuthAdmin for the demo. The library `people` implements the other. */
export function createAuthAdminHandlers(
  ports: AuthPorts,
  people: PermissionPorts,
): Omit<RpcHandlers<typeof AuthAdminDefinition>, 'ensureMember'> {
  return {
    async ensureOrganization({ name }, context) {
      const actor = actorOf(context);
      const refusal = await refuseUnlessPermitted(people, actor, 'platform:organizations');
      const ensured = refusal ?? (await ensureOrganization(ports, actor, name));
      if (isRefusal(ensured)) throw new GatewayError('invalid_request', { message: ensured.message });
      return { organizationId: ensured.id };
    },

    async createUnrestrictedKey({ organizationId, name }, context) {
      const restrictions = { allowedModels: [], ipAllowlist: [], limits: {} };
      const settings = { name, scopes: SCOPES, ...restrictions, jsonStreaming: false };
      const actor = personOf(context);
      const refusal = await refuseUnlessPermitted(people, actor, 'keys:manage_own', organizationId);
      const created = refusal ?? (await createKey(ports, { actor, organizationId, settings }));
      if (isRefusal(created)) throw new GatewayError('invalid_request', { message: created.message });
      return { secret: created.secret };
    },
  };
}
