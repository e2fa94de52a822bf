import type { Implementation } from '../http/implement';
import type { DashboardApiPorts } from '../ports';
import { createAuditHandlers } from './audit-handlers';
import { createCatalogueHandlers } from './catalogue-handlers';
import { createCreditAlertHandlers } from './credit-alert-handlers';
import { createCreditHandlers } from './credit-handlers';
import { createDeadLetterHandlers } from './dead-letter-handlers';
import { createExportHandlers } from './export-handlers';
import { createGenerationHandlers } from './generation-handlers';
import { createKeyHandlers } from './key-handlers';
import { createOperatorHandlers } from './operator-handlers';
import { createPlaygroundHandlers } from './playground-handlers';
import { createProjectHandlers } from './project-handlers';
import { createSessionHandlers } from './session-handlers';
import { createSingleSignOnHandlers } from './single-sign-on-handlers';
import { createStatementHandlers } from './statement-handlers';
import { createUsageHandlers } from './usage-handlers';

/** The handlers of every endpoint, by family. */
export function createHandlers(ports: DashboardApiPorts): readonly Implementation[] {
  return [
    createSessionHandlers,
    createSingleSignOnHandlers,
    createCreditHandlers,
    createProjectHandlers,
    createKeyHandlers,
    createAuditHandlers,
    createDeadLetterHandlers,
    createStatementHandlers,
    createCreditAlertHandlers,
    createUsageHandlers,
    createGenerationHandlers,
    createExportHandlers,
    createOperatorHandlers,
    createCatalogueHandlers,
    createPlaygroundHandlers,
  ].flatMap((create) => create(ports));
}
