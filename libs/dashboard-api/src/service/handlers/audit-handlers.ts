import { endpoints } from '@gateway/dashboard-contract';
import { implement, type Implementation } from '../http/implement';
import { auditEntryView, pageRequest, pageView } from '../messages/views';
import type { DashboardApiPorts } from '../ports';
import { requireOrganization } from './organization-handlers';

export function createAuditHandlers(ports: DashboardApiPorts): readonly Implementation[] {
  const { authAdmin } = ports;
  return [
    implement(endpoints.audit.everything, async ({ query }) => {
      const { entries, nextPageToken } = await authAdmin.listAudit(pageRequest(query));
      return pageView(entries.map(auditEntryView), nextPageToken);
    }),

    implement(endpoints.audit.ofOrganization, async ({ params, query }) => {
      const organizationId = params.organization_id;
      await requireOrganization(ports, organizationId);
      const { entries, nextPageToken } = await authAdmin.listAudit({ organizationId, ...pageRequest(query) });
      return pageView(entries.map(auditEntryView), nextPageToken);
    }),
  ];
}
