import { AdminRefusalReason, type Organization, type OrganizationResponse } from '@gateway/contracts/auth';
import { endpoints } from '@gateway/dashboard-contract';
import { DashboardError } from '../dashboard-error';
import { implement, type Implementation } from '../http/implement';
import { organizationLimitsMessage } from '../messages/bodies';
import { unwrap } from '../messages/errors';
import { organizationView, pageRequest, pageView } from '../messages/views';
import type { DashboardApiPorts } from '../ports';

/** Changes that edges must apply return once every edge has applied them, which takes at most one lease. */
export const EDGE_CHANGE_TIMEOUT_MS = 20_000;

export function createOrganizationHandlers({ authAdmin }: DashboardApiPorts): readonly Implementation[] {
  const { organizations } = endpoints;
  return [
    implement(organizations.list, async ({ query }) => {
      const { organizations, nextPageToken } = await authAdmin.listOrganizations({
        ...pageRequest(query),
        search: query.search,
      });
      return pageView(organizations.map(organizationView), nextPageToken);
    }),

    implement(organizations.create, async ({ body: { name, limits } }) => {
      const created = await authAdmin.createOrganization({
        name,
        limits: limits && organizationLimitsMessage(limits),
      });
      return { organization: viewOf(created) };
    }),

    implement(organizations.get, async ({ params }) => ({
      organization: viewOf(await authAdmin.getOrganization({ organizationId: params.organization_id })),
    })),

    implement(organizations.setLimits, async ({ params, body }) => {
      const { version: expectedVersion, ...limits } = body;
      const change = {
        organizationId: params.organization_id,
        limits: organizationLimitsMessage(limits),
        expectedVersion,
      };
      const changed = await authAdmin.setOrganizationLimits(change, { timeoutMs: EDGE_CHANGE_TIMEOUT_MS });
      if (isStale(changed)) {
        const current = viewOf(await authAdmin.getOrganization({ organizationId: params.organization_id }));
        throw new DashboardError('version_conflict', { metadata: { current } });
      }
      return { organization: viewOf(changed) };
    }),

    implement(organizations.suspend, async ({ params, body: { reason } }) => {
      const change = {
        organizationId: params.organization_id,
        suspended: true,
        reason: reason ?? undefined,
      };
      const changed = await authAdmin.setOrganizationSuspended(change, { timeoutMs: EDGE_CHANGE_TIMEOUT_MS });
      return { organization: viewOf(changed) };
    }),

    implement(organizations.resume, async ({ params }) => {
      const change = { organizationId: params.organization_id, suspended: false, reason: undefined };
      const changed = await authAdmin.setOrganizationSuspended(change, { timeoutMs: EDGE_CHANGE_TIMEOUT_MS });
      return { organization: viewOf(changed) };
    }),
  ];
}

function isStale({ outcome }: OrganizationResponse): boolean {
  return (
    outcome?.$case === 'refusal' &&
    outcome.value.reason === AdminRefusalReason.ADMIN_REFUSAL_REASON_VERSION_CONFLICT
  );
}

function viewOf({ outcome }: OrganizationResponse) {
  return organizationView(unwrap<Organization>(outcome));
}
