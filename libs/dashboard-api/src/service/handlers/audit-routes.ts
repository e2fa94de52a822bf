import { Router } from 'express';
import type { DashboardApiPorts } from '../ports';
import { auditEntryView, pageView } from '../messages/views';
import { requireOrganization } from './organization-routes';
import { pathParameter, readPage } from '../http/request';

export function createAuditRoutes(ports: DashboardApiPorts): Router {
  const { authAdmin } = ports;
  const router = Router();

  router.get('/audit', async (request, response) => {
    const { entries, nextPageToken } = await authAdmin.listAudit(readPage(request));
    response.json(pageView(entries.map(auditEntryView), nextPageToken));
  });

  router.get('/organizations/:organizationId/audit', async (request, response) => {
    const organizationId = pathParameter(request, 'organizationId');
    const page = readPage(request);
    await requireOrganization(ports, organizationId);
    const { entries, nextPageToken } = await authAdmin.listAudit({ organizationId, ...page });
    response.json(pageView(entries.map(auditEntryView), nextPageToken));
  });

  return router;
}
