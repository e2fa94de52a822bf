import { z } from 'zod';
import { endpoint, json } from '../endpoint';
import { id, page, pageQuery, time } from '../fields';

const auditEntry = z
  .object({
    id,
    created_at: time,
    actor: z.object({ id, label: z.string(), ip_address: z.string() }),
    organization_id: id.nullable(),
    action: z.string().meta({ examples: ['key.create'] }),
    target: z.string().meta({ description: 'such as the id of a key' }),
    details: z.unknown().meta({ description: 'what changed, with before and after; never a secret' }),
    outcome: z.enum(['started', 'done', 'failed', 'unknown']),
  })
  .meta({ id: 'AuditEntry' });

const filters = {
  action: z
    .string()
    .max(100)
    .optional()
    .meta({ description: 'such as key.create; or key. for all that begins so' }),
  actor_id: z.string().max(100).optional(),
  target: z.string().max(200).optional(),
  since: time.optional().meta({ description: 'from this moment on' }),
  until: time.optional().meta({ description: 'before this moment' }),
};

export const auditEndpoints = {
  everything: endpoint({
    method: 'GET',
    path: '/api/audit',
    who: 'platform:audit',
    summary: 'The audit log of everything',
    query: pageQuery.extend(filters),
    answer: json(page(auditEntry)),
  }),
  ofOrganization: endpoint({
    method: 'GET',
    path: '/api/organizations/{organization_id}/audit',
    who: 'audit:read',
    summary: 'The audit log of one organization',
    query: pageQuery.extend(filters),
    answer: json(page(auditEntry)),
  }),
} as const;
