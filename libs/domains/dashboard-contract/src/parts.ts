import { z } from 'zod';
import { created, EDGE_CHANGE_TIMEOUT_MS, endpoint, json, type Endpoint } from './endpoint';
import { amountUsd, id, page, total, usd } from './fields';
import { affected, catalogueCheck, catalogueText } from './families/catalogue';
import { statementLine, STATEMENT_TIMEOUT_MS } from './families/credit';
import { generationDetail, ledgerEntry } from './families/generations';
import { key, keyActivity, keyBounds, keyQuery } from './families/keys';
import { foundRequest, offeredModel, organizationUsage } from './families/operator';
import { organization, organizationLimits, organizationQuery, targetRules } from './families/organizations';
import { newPlaygroundKey, playgroundKey } from './families/playground';
import { budgetSpend, project, projectQuery } from './families/projects';
import { ledgerReconciliation, openHolds, spool, usageReconciliation } from './families/settlement';
import { sessionParts } from './session-parts';

/** What fits on one page of a list. */
const ids = z.array(id).max(200);

/**
 * Endpoints that only dashboard-api calls: the parts of responses that it composes from several services. They have an
 * owner, and are neither routed nor in the OpenAPI document.
 */
export const parts = {
  ...sessionParts,
  effectiveLimits: endpoint({
    method: 'GET',
    path: '/internal/organizations/{organization_id}/effective-limits',
    owner: 'auth',
    access: 'organization:read',
    summary:
      'The limits that edges enforce, where a ceiling applies without a limit, and the rules of targets',
    response: json(z.object({ limits: organizationLimits, target_rules: targetRules })),
  }),
  projects: endpoint({
    method: 'GET',
    path: '/internal/organizations/{organization_id}/projects',
    owner: 'auth',
    access: 'organization:read',
    summary: 'A page of projects without their spend',
    query: projectQuery,
    response: json(page(project)),
  }),
  keys: endpoint({
    method: 'GET',
    path: '/internal/organizations/{organization_id}/keys',
    owner: 'auth',
    access: 'keys:read',
    summary: 'A page of keys without their activity',
    query: keyQuery,
    response: json(page(key).extend({ bounds: keyBounds, total })),
  }),
  key: endpoint({
    method: 'GET',
    path: '/internal/organizations/{organization_id}/keys/{key_id}',
    owner: 'auth',
    access: 'keys:read',
    summary: 'A key without its activity',
    response: json(z.object({ key, bounds: keyBounds })),
  }),
  playgroundKey: endpoint({
    method: 'POST',
    path: '/internal/organizations/{organization_id}/playground-key',
    owner: 'auth',
    timeoutMs: EDGE_CHANGE_TIMEOUT_MS,
    access: 'playground:use',
    summary: 'A key of the session, without the URL of the public API',
    body: newPlaygroundKey,
    response: created(playgroundKey),
    audit: ['key.create'],
  }),
  generation: endpoint({
    method: 'GET',
    path: '/internal/organizations/{organization_id}/generations/{generation_id}',
    owner: 'generation-query',
    access: 'usage:read',
    summary: 'A generation without its ledger entries',
    response: json(z.object({ generation: generationDetail.omit({ ledger_entries: true }).nullable() })),
  }),
  foundRequests: endpoint({
    method: 'GET',
    path: '/internal/requests',
    owner: 'generation-query',
    access: 'platform:organizations',
    summary: 'The requests of all organizations with an id, without the names of organizations',
    query: z.strictObject({ id }),
    response: json(
      z.object({ data: z.array(foundRequest.omit({ organization: true }).extend({ organization_id: id })) }),
    ),
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
  ledgerEntries: endpoint({
    method: 'GET',
    path: '/internal/organizations/{organization_id}/ledger-entries',
    owner: 'billing-ledger',
    access: 'credit:read',
    summary: 'The postings of one generation, in order',
    query: z.strictObject({ reference: id }),
    response: json(z.object({ data: z.array(ledgerEntry) })),
  }),
  statementLines: endpoint({
    method: 'GET',
    path: '/internal/organizations/{organization_id}/statement-lines',
    owner: 'billing-ledger',
    timeoutMs: STATEMENT_TIMEOUT_MS,
    access: 'credit:read',
    summary: 'The lines of a month, oldest first, in the pages of a file',
    query: z.strictObject({ month: z.string(), page_token: z.string() }),
    response: json(page(statementLine).extend({ opening_balance_usd: usd })),
  }),
  projectSpend: endpoint({
    method: 'GET',
    path: '/internal/organizations/{organization_id}/project-spend',
    owner: 'billing-ledger',
    access: 'usage:read',
    summary: 'What projects have spent and hold, in the order of the query',
    query: z.strictObject({ project_ids: ids }),
    response: json(z.object({ data: z.array(budgetSpend) })),
  }),
  organizations: endpoint({
    method: 'GET',
    path: '/internal/organizations',
    owner: 'auth',
    access: 'platform:organizations',
    summary: 'Organizations, if given only those with an id',
    query: organizationQuery.extend({ ids: ids.optional() }),
    response: json(page(organization)),
  }),
  lowBalances: endpoint({
    method: 'GET',
    path: '/internal/low-balances',
    owner: 'billing-ledger',
    access: 'platform:organizations',
    summary: 'The organizations with an account and a balance below an amount, lowest first, at most 200',
    query: z.strictObject({ below_usd: amountUsd }),
    response: json(z.object({ organization_ids: z.array(id) })),
  }),
  balances: endpoint({
    method: 'GET',
    path: '/internal/balances',
    owner: 'billing-ledger',
    access: 'platform:organizations',
    summary: 'The balances of organizations, in the order of the query',
    query: z.strictObject({ organization_ids: ids }),
    response: json(z.object({ data: z.array(usd) })),
  }),
  openHolds: endpoint({
    method: 'GET',
    path: '/internal/open-holds',
    owner: 'billing-ledger',
    access: 'platform:settlement',
    summary: 'The open holds of all organizations',
    response: json(openHolds),
  }),
  ledgerReconciliation: endpoint({
    method: 'GET',
    path: '/internal/ledger-reconciliation',
    owner: 'billing-ledger',
    access: 'platform:settlement',
    summary: 'Differences between balances and postings in all organizations',
    response: json(ledgerReconciliation),
  }),
  catalogueCheck: endpoint({
    method: 'POST',
    path: '/internal/catalogue/check',
    owner: 'inference-router',
    access: 'platform:models',
    summary: 'The issues of a text, and its changes to the text in effect',
    body: catalogueText,
    response: json(catalogueCheck),
  }),
  models: endpoint({
    method: 'GET',
    path: '/internal/models',
    owner: 'inference-router',
    access: 'authenticated',
    summary: 'The models that are not disabled',
    response: json(z.object({ data: z.array(offeredModel) })),
  }),
  spool: endpoint({
    method: 'GET',
    path: '/internal/spool',
    owner: 'inference-router',
    access: 'platform:settlement',
    summary: 'Finished generations on disk, waiting for the event log',
    response: json(spool),
  }),
} as const;

export function allParts(): readonly Endpoint[] {
  return Object.values<Endpoint>(parts);
}
