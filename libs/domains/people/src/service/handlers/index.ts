import type { Registry } from 'prom-client';
import type { PeoplePorts } from '../../core/ports';
import { createPeopleMetrics } from '../metrics';
import { createAccountHandlers } from './account';
import { createInvitationHandlers } from './invitations';
import { createManagementTokenHandlers } from './management-tokens';
import { createMemberHandlers } from './members';
import { createSessionHandlers } from './sessions';
import { createSingleSignOnHandlers } from './single-sign-on';

/** The methods of AuthAdmin about people. The library `auth` implements the others. */
export function createPeopleHandlers(ports: PeoplePorts, registry: Registry) {
  const metrics = createPeopleMetrics(registry);
  return {
    ...createSessionHandlers(ports, metrics),
    ...createMemberHandlers(ports),
    ...createInvitationHandlers(ports),
    ...createManagementTokenHandlers(ports),
    ...createAccountHandlers(ports),
    ...createSingleSignOnHandlers(ports, metrics),
  };
}
