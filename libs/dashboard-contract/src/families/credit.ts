import { z } from 'zod';
import { created, endpoint, json } from '../endpoint';
import { id, positiveUsd, usd } from '../fields';

export const balance = z
  .object({
    total_credits_usd: usd,
    total_usage_usd: usd,
    balance_usd: usd.meta({ description: 'what was added less what was used' }),
    reserved_usd: usd.meta({ description: 'held for running requests' }),
    available_usd: usd.meta({ description: 'the balance less what is reserved' }),
  })
  .meta({ id: 'Balance' });

export const idempotencyKey = z
  .string()
  .regex(/^[\x20-\x7e]{1,255}$/, { error: 'must be 1 to 255 printable characters' });

export const creditEndpoints = {
  balance: endpoint({
    method: 'GET',
    path: '/api/organizations/{organization_id}/balance',
    who: 'credit:read',
    summary: 'The balance of an organization',
    answer: json(z.object({ balance })),
  }),
  add: endpoint({
    method: 'POST',
    path: '/api/organizations/{organization_id}/credits',
    who: 'platform:credit',
    summary: 'Add credit',
    description:
      'The same Idempotency-Key adds the same credit once, however often it is sent; with another amount it is 409 `conflict`.',
    headers: z.object({ 'idempotency-key': idempotencyKey.optional() }),
    body: z.strictObject({ amount_usd: positiveUsd, note: z.string().max(200).nullish() }),
    answer: created(
      z.object({
        credit: z.object({ id, amount_usd: usd, note: z.string().nullable() }),
        balance,
      }),
    ),
    audit: ['credit.add'],
    errors: ['conflict'],
  }),
} as const;
