import { z } from 'zod';
import { created, endpoint, json } from '../endpoint';
import { apiType, id, positiveUsd, time, usd } from '../fields';
import { offeredModel } from './operator';

/**
 * The playground calls the public API with a short-lived key. These endpoints create that key and
 * estimate the cost of a request.
 */

export const newPlaygroundKey = z.strictObject({
  budget_usd: positiveUsd
    .optional()
    .meta({ description: 'The daily budget; 1 US dollar by default, 10 at most.' }),
});

export const playgroundKey = z.object({
  key_id: id,
  secret: z.string().meta({ description: 'Returned only here.' }),
  expires_at: time,
  budget_usd: usd,
});

export const playgroundEndpoints = {
  models: endpoint({
    method: 'GET',
    path: '/api/models',
    access: 'authenticated',
    summary: 'List the available models',
    response: json(
      z.object({
        base_url: z
          .string()
          .nullable()
          .meta({ description: 'Of the public API, with /v1; null when unknown.' }),
        api_types: z
          .array(apiType)
          .meta({ description: 'The APIs that the deployment serves; `completions` are chat completions.' }),
        data: z.array(offeredModel),
      }),
    ),
    compressed: true,
  }),
  createKey: endpoint({
    method: 'POST',
    path: '/api/organizations/{organization_id}/playground/key',
    access: 'playground:use',
    summary: 'Create a playground key',
    description:
      'The key has the scopes `chat` and `usage:read`, works until `expires_at`, and has its own daily budget. It is revoked when your session ends or you create another one. It appears in the list of keys and in the audit log.',
    body: newPlaygroundKey,
    response: created(
      playgroundKey.extend({ base_url: z.string().meta({ description: 'Of the public API, with /v1.' }) }),
    ),
    audit: ['key.create'],
    errors: ['conflict'],
  }),
  estimate: endpoint({
    method: 'POST',
    path: '/api/organizations/{organization_id}/playground/estimate',
    access: 'playground:use',
    summary: 'Estimate the maximum cost of a request',
    description: 'Computed as the public API does before it admits a request. The request is not run.',
    body: z.strictObject({
      request: z.record(z.string(), z.unknown()).meta({ description: 'The body of a chat completion.' }),
    }),
    response: json(
      z.object({
        estimated_input_tokens: z.int().min(0),
        max_output_tokens: z.int().min(0),
        max_cost_usd: usd,
        available_usd: usd,
        affordable: z.boolean(),
      }),
    ),
  }),
} as const;
