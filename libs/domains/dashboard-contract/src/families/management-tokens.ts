import { MANAGEMENT_TOKEN_ROLES } from '@gateway/base';
import { z } from 'zod';
import { created, endpoint, json } from '../endpoint';
import { day, emptyBody, id, page, pageQuery, time } from '../fields';

/** Tokens of scripts for this API, of an organization or of the platform. */

export const managementTokenAccess = z.enum(['read', 'read_write']).meta({
  id: 'ManagementTokenAccess',
  description: 'Whether the token only reads, or also changes.',
});

const managementToken = z
  .object({
    id,
    name: z.string(),
    last4: z.string(),
    role: z.enum(['operator', ...MANAGEMENT_TOKEN_ROLES]).meta({
      description: 'The token has the permissions of this role that are open to tokens.',
    }),
    access: managementTokenAccess,
    state: z.enum(['active', 'expired', 'revoked', 'creator_without_access']).meta({
      description:
        'A token works only while the person who created it has the permission to create it: `creator_without_access` when they have lost it, or their account is disabled.',
    }),
    created_by: z.string().nullable().meta({
      description:
        'A person, such as `Ada Lovelace <ada@example.com>`; null for an operator of the platform.',
    }),
    created_at: time,
    expires_on: day.meta({ description: 'The last valid day, UTC.' }),
    revoked_at: time.nullable(),
    last_used_at: time.nullable().meta({ description: 'Accurate to one minute.' }),
  })
  .meta({ id: 'ManagementToken' });

const oneToken = z.object({ token: managementToken });
const createdToken = z.object({
  token: managementToken,
  secret: z.string().meta({ description: 'The full token. Returned only here; only its hash is stored.' }),
});

const fields = {
  name: z.string(),
  access: managementTokenAccess,
  expires_on: day.meta({ description: 'The last valid day, UTC: from today to 366 days ahead.' }),
};

export const managementTokenEndpoints = {
  list: endpoint({
    method: 'GET',
    path: '/api/organizations/{organization_id}/management-tokens',
    owner: 'auth',
    access: 'management_tokens:manage',
    summary: 'List the management tokens of an organization, newest first',
    query: pageQuery,
    response: json(page(managementToken)),
  }),
  create: endpoint({
    method: 'POST',
    path: '/api/organizations/{organization_id}/management-tokens',
    owner: 'auth',
    access: 'management_tokens:manage',
    confirmed: true,
    summary: 'Create a management token of an organization',
    body: z.strictObject({ ...fields, role: z.enum(MANAGEMENT_TOKEN_ROLES) }),
    response: created(createdToken),
    audit: ['management_token.create'],
    errors: ['conflict'],
  }),
  revoke: endpoint({
    method: 'POST',
    path: '/api/organizations/{organization_id}/management-tokens/{token_id}/revoke',
    owner: 'auth',
    access: 'management_tokens:manage',
    summary: 'Revoke a management token of an organization',
    description: 'It authenticates no further request. Idempotent.',
    body: emptyBody,
    response: json(oneToken),
    audit: ['management_token.revoke'],
  }),
  listPlatform: endpoint({
    method: 'GET',
    path: '/api/management-tokens',
    owner: 'auth',
    access: 'platform:management_tokens',
    summary: 'List the management tokens of the platform, newest first',
    query: pageQuery,
    response: json(page(managementToken)),
  }),
  createPlatform: endpoint({
    method: 'POST',
    path: '/api/management-tokens',
    owner: 'auth',
    access: 'platform:management_tokens',
    confirmed: true,
    summary: 'Create a management token of the platform',
    description: 'It has the permissions of operators that are open to tokens.',
    body: z.strictObject(fields),
    response: created(createdToken),
    audit: ['management_token.create'],
    errors: ['conflict'],
  }),
  revokePlatform: endpoint({
    method: 'POST',
    path: '/api/management-tokens/{token_id}/revoke',
    owner: 'auth',
    access: 'platform:management_tokens',
    summary: 'Revoke a management token of the platform',
    description: 'It authenticates no further request. Idempotent.',
    body: emptyBody,
    response: json(oneToken),
    audit: ['management_token.revoke'],
  }),
} as const;
