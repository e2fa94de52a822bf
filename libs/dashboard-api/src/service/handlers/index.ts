import type { Implementation } from '../http/implement';
import type { DashboardApiPorts } from '../ports';
import { createAuditHandlers } from './audit-handlers';
import { createCreditHandlers } from './credit-handlers';
import { createDeadLetterHandlers } from './dead-letter-handlers';
import { createKeyHandlers } from './key-handlers';
import { createOrganizationHandlers } from './organization-handlers';
import { createPeopleHandlers } from './people-handlers';
import { createSessionHandlers } from './session-handlers';

/** Every endpoint that is served, family by family. */
export function createHandlers(ports: DashboardApiPorts): readonly Implementation[] {
  return [
    createSessionHandlers,
    createPeopleHandlers,
    createOrganizationHandlers,
    createCreditHandlers,
    createKeyHandlers,
    createAuditHandlers,
    createDeadLetterHandlers,
  ].flatMap((create) => create(ports));
}
