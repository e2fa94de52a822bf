import type { CallActor } from '@gateway/actors';
import { implement, pageView, type Implementation } from '@gateway/admin-calls';
import { isIdLike, notFound, readPage, readSearchText, type AdminRefusal } from '@gateway/auth-shared';
import { accepted, acceptedOrCurrent } from '@gateway/auth-shared/service';
import { endpoints, parts, type QueryOf } from '@gateway/dashboard-contract';
import { refuseUnlessPermitted, type PermissionPorts } from '@gateway/people';
import type { Organization } from '../core/model';
import { createOrganization } from '../core/organizations/create-organization';
import { effectiveLimits } from '../core/organizations/limits';
import { setElasticHolds } from '../core/organizations/set-elastic-holds';
import {
  setOrganizationCeilings,
  setOrganizationLimits,
} from '../core/organizations/set-organization-limits';
import { setOrganizationSuspended } from '../core/organizations/set-organization-suspended';
import { setSecondFactorRequired } from '../core/organizations/set-second-factor-required';
import { setTargetRules } from '../core/organizations/set-target-rules';
import { setUsageTags } from '../core/organizations/set-usage-tags';
import { updateOrganization } from '../core/organizations/update-organization';
import type { AuthPorts, OrganizationFilter } from '../core/ports';
import { limitChangesOf } from './limits';
import { timeEdgeWait, type AuthMetrics } from './metrics';
import { ownLimitsView, organizationView, targetRulesView } from './views';

const { organizations } = endpoints;

/** The organizations that someone sees who does not see all. */
function ownOrganizationsOf({ id, organization, tokenAccess }: CallActor) {
  return tokenAccess === undefined ? { memberId: id } : { organizationId: organization?.id ?? '' };
}

export function createOrganizationEndpoints(
  ports: AuthPorts,
  people: PermissionPorts,
  metrics: Pick<AuthMetrics, 'edgeWaitSeconds'>,
): readonly Implementation[] {
  async function read(id: string): Promise<Organization> {
    const found = isIdLike(id) ? await ports.organizations.find(id) : undefined;
    return accepted(found ?? notFound('organization'));
  }

  /** Once edges have applied the change. A version conflict carries the current organization. */
  async function changed(organizationId: string, change: Promise<Organization | AdminRefusal>) {
    const current = async () => organizationView(await read(organizationId));
    const organization = await acceptedOrCurrent(await timeEdgeWait(metrics, change), current);
    return { organization: organizationView(organization) };
  }

  async function list(query: QueryOf<typeof parts.organizations>, own: OrganizationFilter) {
    const search = readSearchText(query.search);
    const filter = {
      ...own,
      ...(search !== undefined && { search }),
      ...(query.state !== undefined && { suspended: query.state === 'suspended' }),
      ...(query.ids && { ids: query.ids.filter(isIdLike) }),
    };
    const page = await readPage(query.page_size, query.page_token, (request) =>
      ports.organizations.list(request, filter),
    );
    return pageView(page.items.map(organizationView), page.nextPageToken);
  }

  return [
    implement(organizations.list, async ({ query, actor }) => {
      const seesAll = !(await refuseUnlessPermitted(people, actor, 'platform:organizations'));
      return list(query, seesAll ? {} : ownOrganizationsOf(actor));
    }),

    implement(parts.organizations, ({ query }) => list(query, {})),

    implement(organizations.create, async ({ body: { name, limits, ceilings }, actor }) => {
      const wanted = {
        actor,
        name,
        ...(limits && { limits: limitChangesOf(limits) }),
        ...(ceilings && { ceilings: limitChangesOf(ceilings) }),
      };
      return { organization: organizationView(accepted(await createOrganization(ports, wanted))) };
    }),

    implement(organizations.get, async ({ params }) => ({
      organization: organizationView(await read(params.organization_id)),
    })),

    implement(parts.effectiveLimits, async ({ params }) => {
      const organization = await read(params.organization_id);
      return {
        limits: ownLimitsView(effectiveLimits(organization)),
        target_rules: targetRulesView(organization.targetRules),
      };
    }),

    implement(organizations.setLimits, ({ params, body, actor, signal }) => {
      const { organization_id: organizationId } = params;
      const change = { actor, organizationId, limits: limitChangesOf(body), expectedVersion: body.version };
      return changed(organizationId, setOrganizationLimits(ports, change, signal));
    }),

    implement(organizations.setCeilings, ({ params, body, actor, signal }) => {
      const { organization_id: organizationId } = params;
      const change = { actor, organizationId, ceilings: limitChangesOf(body), expectedVersion: body.version };
      return changed(organizationId, setOrganizationCeilings(ports, change, signal));
    }),

    implement(organizations.setTargetRules, ({ params, body, actor, signal }) => {
      const { organization_id: organizationId } = params;
      const rules = {
        allowedProviders: body.allowed_providers,
        deniedProviders: body.denied_providers,
        allowedRegions: body.allowed_regions,
        deniedRegions: body.denied_regions,
      };
      const change = { actor, organizationId, rules, expectedVersion: body.version };
      return changed(organizationId, setTargetRules(ports, change, signal));
    }),

    implement(organizations.setSecondFactorRequired, ({ params, body: { required }, actor, signal }) => {
      const { organization_id: organizationId } = params;
      return changed(
        organizationId,
        setSecondFactorRequired(ports, { actor, organizationId, required }, signal),
      );
    }),

    implement(organizations.update, ({ params, body, actor, signal }) => {
      const { organization_id: organizationId } = params;
      const change = { actor, organizationId, name: body.name, expectedVersion: body.version };
      return changed(organizationId, updateOrganization(ports, change, signal));
    }),

    implement(organizations.setElasticHolds, ({ params, body: { enabled }, actor, signal }) => {
      const { organization_id: organizationId } = params;
      return changed(organizationId, setElasticHolds(ports, { actor, organizationId, enabled }, signal));
    }),

    implement(organizations.setUsageTags, ({ params, body, actor, signal }) => {
      const { organization_id: organizationId } = params;
      const change = { actor, organizationId, names: body.usage_tags, expectedVersion: body.version };
      return changed(organizationId, setUsageTags(ports, change, signal));
    }),

    implement(organizations.suspend, ({ params, body, actor, signal }) => {
      const { organization_id: organizationId } = params;
      const change = { actor, organizationId, suspended: true, reason: body.reason ?? undefined };
      return changed(organizationId, setOrganizationSuspended(ports, change, signal));
    }),

    implement(organizations.resume, ({ params, actor, signal }) => {
      const { organization_id: organizationId } = params;
      const change = { actor, organizationId, suspended: false };
      return changed(organizationId, setOrganizationSuspended(ports, change, signal));
    }),
  ];
}
