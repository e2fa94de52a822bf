import { z } from 'zod';
import { endpoint, json, noContent } from '../endpoint';
import { emptyBody, time } from '../fields';

const days = z.int().min(1);

const contentLog = z
  .object({
    enabled: z.boolean(),
    has_contents: z
      .boolean()
      .meta({ description: 'Whether any prompt is stored, also from before it was turned off.' }),
    retention_days: days,
    max_retention_days: days.meta({ description: "The platform's maximum." }),
    max_bytes: z
      .int()
      .min(1)
      .meta({ description: 'The maximum size of a prompt, and of a response. Longer ones are cut.' }),
    available: z.boolean().meta({ description: 'False: the platform has no key to encrypt content.' }),
  })
  .meta({ id: 'ContentLog', description: 'Whether prompts and responses are stored. Off by default.' });

const content = z
  .object({
    request: z.string().meta({
      description:
        'The accepted fields of the request as JSON, without the data of images. Not valid JSON if it is cut.',
    }),
    request_cut: z.boolean(),
    response: z
      .string()
      .nullable()
      .meta({ description: 'What the client received, as a `chat.completion` object; null without output.' }),
    response_cut: z.boolean(),
    created_at: time,
    expires_at: time.meta({ description: 'When it is deleted.' }),
  })
  .meta({ id: 'GenerationContent', description: 'The prompt and response of a generation.' });

/** An erasure deletes row by row. */
const ERASE_TIMEOUT_MS = 60_000;

export const contentLogEndpoints = {
  get: endpoint({
    method: 'GET',
    path: '/api/organizations/{organization_id}/content-log',
    owner: 'inference-router',
    access: 'organization:read',
    summary: 'Get whether prompts and responses are stored',
    response: json(z.object({ content_log: contentLog })),
  }),
  set: endpoint({
    method: 'PUT',
    path: '/api/organizations/{organization_id}/content-log',
    owner: 'inference-router',
    timeoutMs: ERASE_TIMEOUT_MS,
    access: 'content_log:manage',
    summary: 'Turn the content log on or off, or change its retention',
    description:
      'Absent fields keep their value. On: the prompt and response of each generation that starts two seconds later are stored, encrypted, for `retention_days`. Off: no further ones are stored, those of running generations included; earlier ones stay until their time is over, unless `erase` is true. A shorter retention deletes what is older within an hour.',
    body: z.strictObject({
      enabled: z.boolean().optional(),
      retention_days: days.optional(),
      erase: z.boolean().optional().meta({ description: 'Also delete everything that is stored.' }),
    }),
    response: json(z.object({ content_log: contentLog })),
    audit: ['content_log.set'],
    errors: ['conflict'],
  }),
  eraseAll: endpoint({
    method: 'DELETE',
    path: '/api/organizations/{organization_id}/content-log/contents',
    owner: 'inference-router',
    timeoutMs: ERASE_TIMEOUT_MS,
    access: 'content_log:manage',
    summary: 'Delete the prompts and responses of all generations',
    description: 'Those of running generations are not stored either.',
    body: emptyBody,
    response: noContent,
    audit: ['content_log.erase'],
  }),
  read: endpoint({
    method: 'POST',
    path: '/api/organizations/{organization_id}/generations/{generation_id}/content',
    owner: 'inference-router',
    access: 'content_log:manage',
    summary: 'Read the prompt and response of a generation',
    description: 'A POST, since each access is written to the audit log.',
    body: emptyBody,
    response: json(z.object({ content })),
    audit: ['content_log.read'],
  }),
  erase: endpoint({
    method: 'DELETE',
    path: '/api/organizations/{organization_id}/generations/{generation_id}/content',
    owner: 'inference-router',
    access: 'content_log:manage',
    summary: 'Delete the prompt and response of a generation',
    body: emptyBody,
    response: noContent,
    audit: ['content_log.erase'],
  }),
} as const;
