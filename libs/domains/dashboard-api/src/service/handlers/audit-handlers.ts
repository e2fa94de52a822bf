import { pageRequest, pageView } from '@gateway/admin-calls';
import { endpoints } from '@gateway/dashboard-contract';
import { listAudit } from '../audit-log';
import { implement, type Implementation } from '../http/implement';
import { auditEntryForCustomer, auditEntryView, auditFilter } from '../messages/views';
import type { DashboardApiPorts } from '../ports';

export function createAuditHandlers(ports: DashboardApiPorts): readonly Implementation[] {
  return [
    implement(endpoints.audit.listPlatform, async ({ query }) => {
      const { entries, nextPageToken } = await listAudit(ports, {
        ...pageRequest(query),
        ...auditFilter(query),
      });
      return pageView(entries.map(auditEntryView), nextPageToken);
    }),

    implement(endpoints.audit.list, async ({ params, query, isOperator }) => {
      const organizationId = params.organization_id;
      const { entries, nextPageToken } = await listAudit(ports, {
        organizationId,
        ...pageRequest(query),
        ...auditFilter(query),
      });
      return pageView(entries.map(isOperator ? auditEntryView : auditEntryForCustomer), nextPageToken);
    }),
  ];
}
