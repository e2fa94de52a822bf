import { z } from 'zod';
import { created, EDGE_CHANGE_TIMEOUT_MS, endpoint, json } from '../endpoint';
import {
  count,
  emptyBody,
  id,
  page,
  pageQuery,
  positiveUsd,
  searchText,
  time,
  usd,
  version,
} from '../fields';
import {
  budgetSpend,
  modelSpends,
  otherBudgets,
  otherBudgetsToSet,
  otherSpends,
  windowSpends,
} from './projects';

const limitFields = {
  requests_per_minute: count,
  tokens_per_minute: count,
  daily_budget_usd: usd.nullable().meta({ description: 'Resets at 00:00 UTC.' }),
  weekly_budget_usd: usd.nullable().meta({ description: 'Resets on Mondays at 00:00 UTC.' }),
  monthly_budget_usd: usd.nullable().meta({ description: 'Resets on the first of the month at 00:00 UTC.' }),
  total_budget_usd: usd.nullable().meta({ description: 'Never resets.' }),
  concurrency: count,
  max_output_tokens: count.meta({ description: 'The upper bound of max_tokens.' }),
  multiple_completions: z.boolean().meta({ description: 'Whether n above 1 is allowed.' }),
};

export const organizationLimits = z.object({ ...limitFields, budgets: otherBudgets }).meta({
  id: 'OrganizationLimits',
  description: 'Null: no limit of its own; the ceiling applies, if there is one.',
});

const organizationCeilings = z
  .object(limitFields)
  .meta({ id: 'OrganizationCeilings', description: 'The upper bounds of `limits`. Null: no ceiling.' });

const names = z.array(z.string());

export const targetRules = z
  .object({
    allowed_providers: names.meta({ description: 'Names as in the catalogue, in any case.' }),
    denied_providers: names,
    allowed_regions: names.meta({ description: 'A target without a region is not on the list.' }),
    denied_regions: names,
  })
  .meta({
    id: 'TargetRules',
    description:
      'The providers and regions that requests may be sent to. An empty list does not restrict; a denied name is denied even if it is also allowed.',
  });

export const organization = z
  .object({
    id,
    name: z.string(),
    suspended: z.boolean(),
    suspended_reason: z.string().nullable(),
    limits: organizationLimits,
    ceilings: organizationCeilings,
    requires_second_factor: z
      .boolean()
      .meta({ description: 'People without two-factor authentication have no access until they set it up.' }),
    target_rules: targetRules,
    elastic_holds: z.boolean().meta({
      description: 'Streams hold their output in slices while they run, instead of all of max_tokens.',
    }),
    usage_tags: names.meta({
      description:
        'The entries of `metadata` of requests that are stored as tags of their generations, by which usage is summed.',
    }),
    created_at: time,
    version: version.meta({ description: 'Increases with each change.' }),
  })
  .meta({ id: 'Organization' });

const oneOrganization = z.object({ organization });

const ceilingsToSet = z
  .strictObject({
    requests_per_minute: count,
    tokens_per_minute: count,
    daily_budget_usd: positiveUsd.nullable(),
    weekly_budget_usd: positiveUsd.nullable(),
    monthly_budget_usd: positiveUsd.nullable(),
    total_budget_usd: positiveUsd.nullable(),
    concurrency: count,
    max_output_tokens: count,
    multiple_completions: z.boolean(),
  })
  .partial();
const limitsToSet = ceilingsToSet.extend({ budgets: otherBudgetsToSet.optional() });

export const organizationQuery = pageQuery.extend({
  search: searchText('name or the id'),
  state: z.enum(['active', 'suspended']).optional(),
});

export const organizationEndpoints = {
  list: endpoint({
    method: 'GET',
    path: '/api/organizations',
    owner: 'auth',
    access: 'authenticated',
    summary: 'List or search your organizations; operators see all organizations',
    query: organizationQuery,
    response: json(page(organization)),
    compressed: true,
  }),
  create: endpoint({
    method: 'POST',
    path: '/api/organizations',
    owner: 'auth',
    access: 'platform:organizations',
    summary: 'Create an organization',
    description:
      'Each absent limit is the configured default, lowered to its ceiling. Each absent ceiling is the configured default, or the limit where it is above; `multiple_completions` is not allowed. Null: no limit, or no ceiling.',
    body: z.strictObject({
      name: z.string(),
      limits: limitsToSet.optional(),
      ceilings: ceilingsToSet.optional(),
    }),
    response: created(oneOrganization),
    audit: ['organization.create'],
  }),
  get: endpoint({
    method: 'GET',
    path: '/api/organizations/{organization_id}',
    owner: 'auth',
    access: 'organization:read',
    summary: 'Get an organization',
    response: json(oneOrganization),
  }),
  update: endpoint({
    method: 'PATCH',
    path: '/api/organizations/{organization_id}',
    owner: 'auth',
    timeoutMs: EDGE_CHANGE_TIMEOUT_MS,
    access: 'organization:limits',
    summary: 'Rename an organization',
    description:
      'Absent fields keep their value. With `version`, the response is 409 `version_conflict` if the organization has changed since; `metadata.current` is the current organization.',
    body: z.strictObject({ name: z.string().optional(), version: version.optional() }),
    response: json(oneOrganization),
    audit: ['organization.update'],
    errors: ['version_conflict'],
  }),
  budgetSpend: endpoint({
    method: 'GET',
    path: '/api/organizations/{organization_id}/budget-spend',
    owner: 'billing-ledger',
    access: 'organization:read',
    summary: 'Get what counts against the budgets of an organization',
    query: otherSpends,
    response: json(z.object({ spend: budgetSpend, windows: windowSpends, models: modelSpends })),
  }),
  setLimits: endpoint({
    method: 'PUT',
    path: '/api/organizations/{organization_id}/limits',
    owner: 'auth',
    timeoutMs: EDGE_CHANGE_TIMEOUT_MS,
    access: 'organization:limits',
    summary: 'Change limits',
    description:
      'Absent limits keep their value; null means that the ceiling applies. A limit is at or below its ceiling. Keys above a new limit are lowered to it; the audit entry names them. With `version`, the response is 409 `version_conflict` if the organization has changed since; `metadata.current` is the current organization.',
    body: limitsToSet.extend({ version: version.optional() }),
    response: json(oneOrganization),
    audit: ['organization.set_limits'],
    errors: ['version_conflict'],
  }),
  setCeilings: endpoint({
    method: 'PUT',
    path: '/api/organizations/{organization_id}/ceilings',
    owner: 'auth',
    timeoutMs: EDGE_CHANGE_TIMEOUT_MS,
    access: 'platform:organizations',
    summary: 'Change ceilings: the upper bounds of the limits',
    description:
      'Absent ceilings keep their value; null removes one. Limits of the organization and of its keys above a new ceiling are lowered to it, and stay lowered if the ceiling is raised again; the audit entry names them. `version` works as for limits.',
    body: ceilingsToSet.extend({ version: version.optional() }),
    response: json(oneOrganization),
    audit: ['organization.set_ceilings'],
    errors: ['version_conflict'],
  }),
  setTargetRules: endpoint({
    method: 'PUT',
    path: '/api/organizations/{organization_id}/target-rules',
    owner: 'auth',
    timeoutMs: EDGE_CHANGE_TIMEOUT_MS,
    access: 'organization:targets',
    summary: 'Change the lists of allowed and denied providers and regions',
    description:
      'Absent lists keep their entries; null empties one. Requests are sent to no other target from the response on; a model without an allowed target gets 403 `model_not_allowed`, and `GET /v1/models` leaves it out. Names need not exist in the catalogue. `version` works as for limits.',
    body: z
      .strictObject({
        allowed_providers: names.nullable(),
        denied_providers: names.nullable(),
        allowed_regions: names.nullable(),
        denied_regions: names.nullable(),
        version,
      })
      .partial(),
    response: json(oneOrganization),
    audit: ['organization.set_target_rules'],
    errors: ['version_conflict'],
  }),
  setSecondFactorRequired: endpoint({
    method: 'PUT',
    path: '/api/organizations/{organization_id}/second-factor-required',
    owner: 'auth',
    timeoutMs: EDGE_CHANGE_TIMEOUT_MS,
    access: 'organization:security',
    confirmed: true,
    summary: 'Decide whether people need two-factor authentication',
    description:
      'People without it can only set it up, from their next request on. It does not apply to sessions of single sign-on, where the identity provider is responsible.',
    body: z.strictObject({ required: z.boolean() }),
    response: json(oneOrganization),
    audit: ['organization.require_second_factor'],
  }),
  setElasticHolds: endpoint({
    method: 'PUT',
    path: '/api/organizations/{organization_id}/elastic-holds',
    owner: 'auth',
    timeoutMs: EDGE_CHANGE_TIMEOUT_MS,
    access: 'organization:limits',
    summary: 'Turn elastic holds on or off',
    description:
      'With elastic holds, a stream holds its input and a slice of its output, and extends the hold while it runs. A stream that the balance or a budget no longer covers ends with the finish reason `length`. Applies to new requests.',
    body: z.strictObject({ enabled: z.boolean() }),
    response: json(oneOrganization),
    audit: ['organization.set_elastic_holds'],
  }),
  setUsageTags: endpoint({
    method: 'PUT',
    path: '/api/organizations/{organization_id}/usage-tags',
    owner: 'auth',
    timeoutMs: EDGE_CHANGE_TIMEOUT_MS,
    access: 'organization:limits',
    summary: 'Change the tags by which usage is summed',
    description:
      'At most 5 names of entries of `metadata`. An absent list keeps its names; null empties it. The values of these entries are stored with each generation from the response on, cut to 256 characters; other entries are not stored. Sums by a tag that is no longer listed remain. `version` works as for limits.',
    body: z.strictObject({ usage_tags: names.nullable(), version }).partial(),
    response: json(oneOrganization),
    audit: ['organization.set_usage_tags'],
    errors: ['version_conflict'],
  }),
  suspend: endpoint({
    method: 'POST',
    path: '/api/organizations/{organization_id}/suspend',
    owner: 'auth',
    timeoutMs: EDGE_CHANGE_TIMEOUT_MS,
    access: 'platform:organizations',
    summary: 'Suspend an organization: all requests with its keys get 403',
    description: 'Idempotent.',
    body: z.strictObject({ reason: z.string().nullish() }),
    response: json(oneOrganization),
    audit: ['organization.suspend'],
  }),
  resume: endpoint({
    method: 'POST',
    path: '/api/organizations/{organization_id}/resume',
    owner: 'auth',
    timeoutMs: EDGE_CHANGE_TIMEOUT_MS,
    access: 'platform:organizations',
    summary: 'Resume a suspended organization',
    description: 'Idempotent.',
    body: emptyBody,
    response: json(oneOrganization),
    audit: ['organization.resume'],
  }),
} as const;
