import { z } from 'zod';
import { endpoint, json, stream } from '../endpoint';
import { id, page, pageQuery, time } from '../fields';

const auditEntry = z
  .object({
    id,
    created_at: time,
    actor: z.object({ id, label: z.string(), ip_address: z.string() }),
    organization_id: id.nullable(),
    action: z.string().meta({ examples: ['key.create'] }),
    target: z.string().meta({ description: 'The id of the changed resource.' }),
    details: z
      .unknown()
      .meta({ description: 'The changed fields with their previous and new values; never a secret.' }),
  })
  .meta({ id: 'AuditEntry' });

const filters = {
  action: z
    .string()
    .max(100)
    .optional()
    .meta({ description: 'An action such as `key.create`, or a prefix such as `key.`.' }),
  actor_id: z.string().max(100).optional(),
  target: z.string().max(200).optional(),
  since: time.optional().meta({ description: 'At or after this time.' }),
  until: time.optional().meta({ description: 'Before this time.' }),
};

export const auditEndpoints = {
  listPlatform: endpoint({
    method: 'GET',
    path: '/api/audit',
    access: 'platform:audit',
    summary: 'List the audit entries of the platform and all organizations',
    query: pageQuery.extend(filters),
    response: json(page(auditEntry)),
    compressed: true,
  }),
  list: endpoint({
    method: 'GET',
    path: '/api/organizations/{organization_id}/audit',
    access: 'audit:read',
    summary: 'List the audit entries of an organization',
    query: pageQuery.extend(filters),
    response: json(page(auditEntry)),
    compressed: true,
  }),
  platformCsv: endpoint({
    method: 'GET',
    path: '/api/audit.csv',
    access: 'platform:audit',
    summary: 'Download the audit entries of the platform and all organizations as CSV',
    query: z.strictObject(filters),
    response: stream('text/csv'),
  }),
  csv: endpoint({
    method: 'GET',
    path: '/api/organizations/{organization_id}/audit.csv',
    access: 'audit:read',
    summary: 'Download the audit entries of an organization as CSV',
    query: z.strictObject(filters),
    response: stream('text/csv'),
  }),
} as const;
