import type { Organization, OrganizationResponse } from '@gateway/contracts/auth';
import { Router } from 'express';
import {
  createOrganizationBody,
  emptyBody,
  organizationLimitsBody,
  organizationLimitsMessage,
  suspendBody,
} from '../messages/bodies';
import type { DashboardApiPorts } from '../ports';
import { accepted } from '../messages/errors';
import { organizationView, pageView } from '../messages/views';
import { actorOf, pathParameter, readBody, readPage } from '../http/request';

/** Changes that edges must hear of are answered once they have; that takes one lease at most. */
export const EDGE_CHANGE_TIMEOUT_MS = 20_000;

export function createOrganizationRoutes({ authAdmin }: DashboardApiPorts): Router {
  const router = Router();

  router.get('/organizations', async (request, response) => {
    const { organizations, nextPageToken } = await authAdmin.listOrganizations(readPage(request));
    response.json(pageView(organizations.map(organizationView), nextPageToken));
  });

  router.post('/organizations', async (request, response) => {
    const { name, limits } = readBody(request, createOrganizationBody);
    const created = await authAdmin.createOrganization({
      actor: actorOf(response),
      name,
      limits: limits && organizationLimitsMessage(limits),
    });
    response.status(201).json({ organization: viewOf(created) });
  });

  router.get('/organizations/:organizationId', async (request, response) => {
    const organizationId = pathParameter(request, 'organizationId');
    response.json({ organization: viewOf(await authAdmin.getOrganization({ organizationId })) });
  });

  router.put('/organizations/:organizationId/limits', async (request, response) => {
    const limits = organizationLimitsMessage(readBody(request, organizationLimitsBody));
    const change = {
      actor: actorOf(response),
      organizationId: pathParameter(request, 'organizationId'),
      limits,
    };
    const changed = await authAdmin.setOrganizationLimits(change, { timeoutMs: EDGE_CHANGE_TIMEOUT_MS });
    response.json({ organization: viewOf(changed) });
  });

  router.post('/organizations/:organizationId/suspend', async (request, response) => {
    const { reason } = readBody(request, suspendBody);
    const change = {
      actor: actorOf(response),
      organizationId: pathParameter(request, 'organizationId'),
      suspended: true,
      reason: reason ?? undefined,
    };
    const changed = await authAdmin.setOrganizationSuspended(change, { timeoutMs: EDGE_CHANGE_TIMEOUT_MS });
    response.json({ organization: viewOf(changed) });
  });

  router.post('/organizations/:organizationId/resume', async (request, response) => {
    readBody(request, emptyBody);
    const change = {
      actor: actorOf(response),
      organizationId: pathParameter(request, 'organizationId'),
      suspended: false,
      reason: undefined,
    };
    const changed = await authAdmin.setOrganizationSuspended(change, { timeoutMs: EDGE_CHANGE_TIMEOUT_MS });
    response.json({ organization: viewOf(changed) });
  });

  return router;
}

function viewOf({ outcome }: OrganizationResponse) {
  return organizationView(accepted<Organization>(outcome));
}

/** Throws "not found" unless there is such an organization. */
export async function requireOrganization(
  { authAdmin }: DashboardApiPorts,
  organizationId: string,
): Promise<void> {
  const { outcome } = await authAdmin.getOrganization({ organizationId });
  accepted<Organization>(outcome);
}
