import { z } from 'zod';
import { endpoint, json, type Endpoint } from './endpoint';
import { id, usd } from './fields';
import { affected } from './families/catalogue';
import { generationDetail } from './families/generations';
import { keyActivity } from './families/keys';
import { organizationUsage, usageReconciliation } from './families/operator';

/** What fits on one page of a list. */
const ids = z.array(id).max(200);

/**
 * Endpoints that only dashboard-api calls: the parts of responses that it composes from several services. They have an
 * owner, and are neither routed nor in the OpenAPI document.
 */
export const parts = {
  generation: endpoint({
    method: 'GET',
    path: '/internal/organizations/{organization_id}/generations/{generation_id}',
    owner: 'generation-query',
    access: 'usage:read',
    summary: 'A generation without its ledger entries',
    response: json(z.object({ generation: generationDetail.omit({ ledger_entries: true }).nullable() })),
  }),
  usageNow: endpoint({
    method: 'GET',
    path: '/internal/organizations/{organization_id}/usage-now',
    owner: 'generation-query',
    access: 'usage:read',
    summary: 'What was charged today, for pages that poll',
    response: json(
      z.object({
        spend_today_usd: usd,
        requests_today: z.int(),
        latest_generation_id: id.nullable(),
      }),
    ),
  }),
  keyActivity: endpoint({
    method: 'GET',
    path: '/internal/organizations/{organization_id}/key-activity',
    owner: 'generation-query',
    access: 'keys:read',
    summary: 'The last use and the spend of keys, in the order of the query',
    query: z.strictObject({ key_ids: ids }),
    response: json(z.object({ data: z.array(keyActivity) })),
  }),
  organizationUsage: endpoint({
    method: 'GET',
    path: '/internal/organization-usage',
    owner: 'generation-query',
    access: 'platform:organizations',
    summary: 'The last 30 days of organizations, in the order of the query',
    query: z.strictObject({ organization_ids: ids }),
    response: json(z.object({ data: z.array(organizationUsage) })),
  }),
  modelUse: endpoint({
    method: 'GET',
    path: '/internal/model-use',
    owner: 'generation-query',
    access: 'platform:models',
    summary: 'Who used models within the last 30 days, of those that were used',
    query: z.strictObject({ model_ids: ids }),
    response: json(z.object({ data: z.array(affected) })),
  }),
  usageReconciliation: endpoint({
    method: 'GET',
    path: '/internal/usage-reconciliation',
    owner: 'generation-query',
    access: 'platform:settlement',
    summary: 'Differences between usage and settlements in all organizations',
    response: json(usageReconciliation),
  }),
} as const;

export function allParts(): readonly Endpoint[] {
  return Object.values<Endpoint>(parts);
}
