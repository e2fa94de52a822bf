import { z } from 'zod';
import { created, endpoint, json } from '../endpoint';
import { id, positiveUsd, time, usd } from '../fields';
import { offeredModel } from './operator';

/**
 * The playground talks to the public API itself, with a key that lives for
 * minutes; this API only makes that key and says what a request may cost.
 */

export const playgroundEndpoints = {
  models: endpoint({
    method: 'GET',
    path: '/api/models',
    who: 'signed_in',
    summary: 'The models that can be called',
    answer: json(
      z.object({
        base_url: z
          .string()
          .nullable()
          .meta({ description: 'of the public API, with /v1; null when it is not known' }),
        data: z.array(offeredModel),
      }),
    ),
  }),
  createKey: endpoint({
    method: 'POST',
    path: '/api/organizations/{organization_id}/playground/key',
    who: 'playground:use',
    summary: 'A key of your own for some minutes',
    description:
      'Scope `chat` and `usage:read`, usable until `expires_at`, with a daily budget of its own. It ends with the session that asks for it, too, and asking again ends the one before. It is in the list of keys, marked by its name, and in the audit log like any other.',
    body: z.strictObject({
      budget_usd: positiveUsd
        .optional()
        .meta({ description: 'the most it may spend; 1 US dollar when absent, 10 at most' }),
    }),
    answer: created(
      z.object({
        key_id: id,
        secret: z.string().meta({ description: 'in this one answer and nowhere else' }),
        expires_at: time,
        budget_usd: usd,
        base_url: z.string().meta({ description: 'of the public API, with /v1' }),
      }),
    ),
    audit: ['key.create'],
    errors: ['conflict'],
  }),
  estimate: endpoint({
    method: 'POST',
    path: '/api/organizations/{organization_id}/playground/estimate',
    who: 'playground:use',
    summary: 'The most that a request can cost',
    description: 'Worked out as the public API does before it admits a request; the request is not run.',
    body: z.strictObject({
      request: z.record(z.string(), z.unknown()).meta({ description: 'the body of a chat completion' }),
    }),
    answer: json(
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
