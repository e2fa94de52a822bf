import { pageRequest, pageView } from '@gateway/admin-calls';
import { AdminRefusalReason, type Organization, type OrganizationResponse } from '@gateway/contracts/auth';
import { DashboardError, EDGE_CHANGE_TIMEOUT_MS, endpoints } from '@gateway/dashboard-contract';
import { implement, type Implementation } from '../http/implement';
import { organizationLimitsMessage } from '../messages/bodies';
import { unwrap } from '../messages/errors';
import { organizationView } from '../messages/views';
import type { DashboardApiPorts } from '../ports';

export function createOrganizationHandlers({ authAdmin }: DashboardApiPorts): readonly Implementation[] {
  const { organizations } = endpoints;

  /** A version conflict carries the current organization. */
  async function viewOfChanged(changed: OrganizationResponse, organizationId: string) {
    if (!isStale(changed)) return viewOf(changed);
    const current = viewOf(await authAdmin.getOrganization({ organizationId }));
    throw new DashboardError('version_conflict', { metadata: { current } });
  }

  return [
    implement(organizations.list, async ({ query }) => {
      const { organizations, nextPageToken } = await authAdmin.listOrganizations({
        ...pageRequest(query),
        search: query.search,
      });
      return pageView(organizations.map(organizationView), nextPageToken);
    }),

    implement(organizations.create, async ({ body: { name, limits, ceilings } }) => {
      const created = await authAdmin.createOrganization({
        name,
        limits: limits && organizationLimitsMessage(limits),
        ceilings: ceilings && organizationLimitsMessage(ceilings),
      });
      return { organization: viewOf(created) };
    }),

    implement(organizations.get, async ({ params }) => ({
      organization: viewOf(await authAdmin.getOrganization({ organizationId: params.organization_id })),
    })),

    implement(organizations.setSecondFactorRequired, async ({ params, body }) => {
      const change = { organizationId: params.organization_id, required: body.required };
      const options = { timeoutMs: EDGE_CHANGE_TIMEOUT_MS };
      return { organization: viewOf(await authAdmin.setSecondFactorRequired(change, options)) };
    }),

    implement(organizations.setTargetRules, async ({ params, body }) => {
      const organizationId = params.organization_id;
      const change = {
        organizationId,
        targetRules: {
          allowedProviders: body.allowed_providers,
          deniedProviders: body.denied_providers,
          allowedRegions: body.allowed_regions,
          deniedRegions: body.denied_regions,
        },
        expectedVersion: body.version,
      };
      const changed = await authAdmin.setTargetRules(change, { timeoutMs: EDGE_CHANGE_TIMEOUT_MS });
      return { organization: await viewOfChanged(changed, organizationId) };
    }),

    implement(organizations.setElasticHolds, async ({ params, body }) => {
      const change = { organizationId: params.organization_id, enabled: body.enabled };
      const options = { timeoutMs: EDGE_CHANGE_TIMEOUT_MS };
      return { organization: viewOf(await authAdmin.setElasticHolds(change, options)) };
    }),

    implement(organizations.setLimits, async ({ params, body }) => {
      const { version: expectedVersion, ...limits } = body;
      const organizationId = params.organization_id;
      const change = { organizationId, limits: organizationLimitsMessage(limits), expectedVersion };
      const changed = await authAdmin.setOrganizationLimits(change, { timeoutMs: EDGE_CHANGE_TIMEOUT_MS });
      return { organization: await viewOfChanged(changed, organizationId) };
    }),

    implement(organizations.setCeilings, async ({ params, body }) => {
      const { version: expectedVersion, ...ceilings } = body;
      const organizationId = params.organization_id;
      const change = { organizationId, ceilings: organizationLimitsMessage(ceilings), expectedVersion };
      const changed = await authAdmin.setOrganizationCeilings(change, { timeoutMs: EDGE_CHANGE_TIMEOUT_MS });
      return { organization: await viewOfChanged(changed, organizationId) };
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
