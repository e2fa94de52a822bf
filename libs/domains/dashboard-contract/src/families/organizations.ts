import { z } from 'zod';
import { created, endpoint, json } from '../endpoint';
import { count, emptyBody, id, page, pageQuery, positiveUsd, time, usd, version } from '../fields';

const organizationLimits = z
  .object({
    requests_per_minute: count,
    tokens_per_minute: count,
    daily_budget_usd: usd.nullable().meta({ description: 'resets at 00:00 UTC' }),
    concurrency: count,
    max_output_tokens: count.meta({ description: 'the cap on max_tokens' }),
    multiple_completions: z.boolean().meta({ description: 'whether n above 1 is allowed' }),
  })
  .meta({ id: 'OrganizationLimits', description: 'null: no limit' });

const organization = z
  .object({
    id,
    name: z.string(),
    suspended: z.boolean(),
    suspended_reason: z.string().nullable(),
    limits: organizationLimits,
    created_at: time,
    version: version.meta({ description: 'grows with each change' }),
  })
  .meta({ id: 'Organization' });

const oneOrganization = z.object({ organization });

/** Every limit has to be named: one that was forgotten must not silently cease to apply. */
const limitsToSet = z.strictObject({
  requests_per_minute: count,
  tokens_per_minute: count,
  daily_budget_usd: positiveUsd.nullable(),
  concurrency: count,
  max_output_tokens: count,
  multiple_completions: z.boolean(),
});

export const organizationEndpoints = {
  list: endpoint({
    method: 'GET',
    path: '/api/organizations',
    who: 'signed_in',
    summary: 'The organizations that one belongs to; for operators, all',
    query: pageQuery,
    answer: json(page(organization)),
  }),
  create: endpoint({
    method: 'POST',
    path: '/api/organizations',
    who: 'platform:organizations',
    summary: 'Create an organization',
    description: 'Without `limits` it gets the configured defaults.',
    body: z.strictObject({ name: z.string(), limits: limitsToSet.optional() }),
    answer: created(oneOrganization),
    audit: ['organization.create'],
  }),
  get: endpoint({
    method: 'GET',
    path: '/api/organizations/{organization_id}',
    who: 'organization:read',
    summary: 'One organization',
    answer: json(oneOrganization),
  }),
  setLimits: endpoint({
    method: 'PUT',
    path: '/api/organizations/{organization_id}/limits',
    who: 'organization:limits',
    summary: 'Replace all limits',
    description:
      'Each has to be named. With `version` only if the organization is still at it; else 409 `version_conflict`, with the organization of now in `metadata.current`.',
    body: limitsToSet.extend({ version: version.optional() }),
    answer: json(oneOrganization),
    audit: ['organization.set_limits'],
    errors: ['version_conflict'],
  }),
  suspend: endpoint({
    method: 'POST',
    path: '/api/organizations/{organization_id}/suspend',
    who: 'platform:organizations',
    summary: 'Suspend: all requests with its keys get 403',
    description: 'Idempotent.',
    body: z.strictObject({ reason: z.string().nullish() }),
    answer: json(oneOrganization),
    audit: ['organization.suspend'],
  }),
  resume: endpoint({
    method: 'POST',
    path: '/api/organizations/{organization_id}/resume',
    who: 'platform:organizations',
    summary: 'End the suspension',
    description: 'Idempotent.',
    body: emptyBody,
    answer: json(oneOrganization),
    audit: ['organization.resume'],
  }),
} as const;
