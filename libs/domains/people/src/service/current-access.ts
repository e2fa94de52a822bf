import type { Implementation } from '@gateway/admin-calls';
import { isPermission } from '@gateway/dashboard-contract';
import { personOf } from '@gateway/rpc';
import { accepted } from '@gateway/auth-shared/service';
import { refuseUnlessPermitted, type PermissionPorts } from '../core/access/authorize';
import type { PeoplePorts } from '../core/ports';
import { refuseUnlessConfirmed } from '../core/sign-in/confirm-session';

/**
 * Checks an endpoint's access against the database before its handler runs, whatever the assertion says, and that the
 * session is confirmed where the endpoint needs it.
 */
export function withCurrentAccess(
  ports: PermissionPorts & Pick<PeoplePorts, 'sessions'>,
  { endpoint, handler }: Implementation,
): Implementation {
  const { access, confirmed } = endpoint;
  if (!isPermission(access)) return { endpoint, handler };
  return {
    endpoint,
    async handler(input) {
      const { organization_id: organizationId } = input.params as Readonly<Record<string, string>>;
      accepted(
        confirmed
          ? await refuseUnlessConfirmed(ports, personOf(input), access, organizationId)
          : await refuseUnlessPermitted(ports, input.actor, access, organizationId),
      );
      return handler(input);
    },
  };
}
