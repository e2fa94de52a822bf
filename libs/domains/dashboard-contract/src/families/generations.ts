import { z } from 'zod';
import { endpoint, json } from '../endpoint';
import { amountUsd, id, page, pageQuery, time, usd } from '../fields';

const number = z.int().min(0);

const generationStatuses = ['completed', 'cancelled', 'failed'] as const;
const status = z.enum(generationStatuses);

const tokens = {
  prompt_tokens: number,
  cached_tokens: number.meta({ description: 'of the prompt tokens' }),
  image_tokens: number.meta({ description: 'of the prompt tokens' }),
  completion_tokens: number,
  reasoning_tokens: number.meta({ description: 'of the completion tokens' }),
};

const shared = {
  id,
  created_at: time.meta({ description: 'when it was admitted' }),
  model_id: z.string(),
  key_id: id,
  request_id: id,
  external_user: z.string().nullable(),
  status,
  finish_reason: z.string().nullable(),
  streamed: z.boolean(),
  cost_usd: usd.meta({ description: 'usage times prices' }),
  charged_usd: usd.meta({ description: 'what was taken from the balance' }),
  duration_ms: number.meta({ description: 'from admission to the end' }),
  time_to_first_token_ms: number.nullable().meta({ description: 'null unless streamed' }),
  prompt_tokens: number,
  completion_tokens: number,
};

const generationSummary = z.object(shared).meta({ id: 'GenerationSummary' });

const tokenKinds = ['input', 'cached_input', 'image', 'output', 'reasoning'] as const;

const generationCost = z
  .object({
    kind: z.enum(tokenKinds),
    tokens: number,
    price_usd_per_million: usd,
    cost_usd: usd,
  })
  .meta({
    id: 'GenerationCost',
    description:
      'Cost of one kind of token by the price that was frozen at admission; the kinds add up to the cost.',
  });

const providerAttempt = z
  .object({
    provider: z.string(),
    provider_model: z.string().nullable().meta({ description: 'null unless you are an operator' }),
    outcome: z.string().meta({
      description: 'ok, broken_off, cancelled, or why it failed before its first event',
      examples: ['timed_out'],
    }),
    duration_ms: number,
  })
  .meta({ id: 'ProviderAttempt' });

const ledgerEntry = z
  .object({
    kind: z.enum(['credit', 'correction', 'hold', 'settlement', 'void']),
    posted_at: time,
    credit_usd: usd.meta({ description: 'what the available credit went up by; negative: down' }),
    held_usd: usd.meta({ description: 'the same of what is held' }),
    revenue_usd: usd.meta({ description: 'cost that was earned' }),
    uncollected_usd: usd.meta({ description: 'cost that no balance was left to pay' }),
  })
  .meta({ id: 'LedgerEntry', description: 'One movement of money.' });

const generationDetail = z
  .object({
    ...shared,
    ...tokens,
    settled_at: time,
    error_code: z.string().nullable().meta({ description: 'when the provider failed after its first event' }),
    usage_source: z
      .enum(['provider', 'counted'])
      .nullable()
      .meta({ description: 'who counted the tokens; null of generations from before this was kept' }),
    latency_ms: number.meta({ description: "from admission to the provider's first event" }),
    generation_time_ms: number.meta({ description: 'from the first event to the last' }),
    cost_by_kind: z
      .array(generationCost)
      .nullable()
      .meta({ description: 'null of generations from before the prices were kept' }),
    attempts: z.array(providerAttempt).nullable().meta({
      description: 'calls to providers, in their order; null of generations from before they were kept',
    }),
    ledger_entries: z
      .array(ledgerEntry)
      .nullable()
      .meta({ description: 'in their order; null when the ledger cannot be asked right now' }),
  })
  .meta({ id: 'GenerationDetail' });

const generationFilters = {
  search: z
    .string()
    .min(1)
    .max(500)
    .optional()
    .meta({ description: 'the whole id of a generation, of a request, or of an external user' }),
  since: time.optional().meta({ description: 'admitted from this moment on' }),
  until: time.optional().meta({ description: 'admitted before this moment' }),
  model_id: z.string().max(200).optional(),
  key_id: z.string().max(100).optional(),
  external_user: z.string().max(500).optional(),
  status: status.optional(),
  min_cost_usd: amountUsd.optional(),
  max_cost_usd: amountUsd.optional(),
};

export const generationEndpoints = {
  list: endpoint({
    method: 'GET',
    path: '/api/organizations/{organization_id}/generations',
    who: 'usage:read',
    summary: 'Settled generations, newest first',
    description:
      'One answer looks so far back as it can in a moment. With rare matches it may have few or none although there are older ones: `searched_until` says how far it came, and `next_page_token` goes on from there.',
    query: pageQuery.extend(generationFilters),
    answer: json(
      page(generationSummary).extend({
        searched_until: time
          .nullable()
          .meta({ description: 'everything from this moment on was looked at; null: everything there is' }),
      }),
    ),
  }),
  get: endpoint({
    method: 'GET',
    path: '/api/organizations/{organization_id}/generations/{generation_id}',
    who: 'usage:read',
    summary: 'One generation in every detail',
    answer: json(z.object({ generation: generationDetail })),
  }),
} as const;
