import { z } from 'zod';
import { endpoint, json, stream } from '../endpoint';
import { amountUsd, apiType, id, page, pageQuery, time, usd } from '../fields';

const number = z.int().min(0);

const generationStatuses = ['completed', 'cancelled', 'failed'] as const;
const status = z.enum(generationStatuses);

const tokens = {
  prompt_tokens: number,
  cached_tokens: number.meta({ description: 'Included in prompt tokens.' }),
  cache_write_tokens: number.meta({
    description: "Written to the provider's cache for five minutes. Included in prompt tokens.",
  }),
  cache_write_1h_tokens: number.meta({
    description: "Written to the provider's cache for one hour. Included in prompt tokens.",
  }),
  image_tokens: number.meta({ description: 'Included in prompt tokens.' }),
  completion_tokens: number,
  reasoning_tokens: number.meta({ description: 'Included in completion tokens.' }),
};

const shared = {
  id,
  created_at: time.meta({ description: 'When the request was admitted.' }),
  model_id: z.string(),
  key_id: id,
  request_id: id,
  external_user: z.string().nullable(),
  tags: z.record(z.string(), z.string()).meta({ description: 'The usage tags of the request, by name.' }),
  api_type: apiType,
  status,
  finish_reason: z.string().nullable(),
  error_code: z.string().nullable().meta({ description: 'Set when the generation failed.' }),
  streamed: z.boolean(),
  cost_usd: usd.meta({ description: 'Usage multiplied by prices.' }),
  charged_usd: usd.meta({ description: 'The amount charged to the balance.' }),
  duration_ms: number.meta({ description: 'From admission to the last event.' }),
  time_to_first_token_ms: number.nullable().meta({ description: 'Null unless streamed.' }),
  prompt_tokens: number,
  completion_tokens: number,
};

const generationSummary = z.object(shared).meta({ id: 'GenerationSummary' });

const tokenKinds = [
  'input',
  'cached_input',
  'cache_write',
  'cache_write_1h',
  'image',
  'output',
  'reasoning',
] as const;

const generationCost = z
  .object({
    kind: z.enum(tokenKinds),
    tokens: number,
    price_usd_per_million: usd,
    cost_usd: usd,
  })
  .meta({
    id: 'GenerationCost',
    description: 'Cost of one kind of token, by the price at admission. The kinds add up to the total cost.',
  });

const providerAttempt = z
  .object({
    provider: z.string(),
    provider_model: z.string().nullable().meta({ description: 'Null unless you are an operator.' }),
    reason: z.string().meta({
      description:
        "Why this provider: the model's routing (`order`, `weight`, `price`, `latency`), `prompt_cache_key`, `signature`, `retry` or `failover`; empty if not recorded.",
      examples: ['failover'],
    }),
    outcome: z.string().meta({
      description:
        '`ok`, `interrupted` (failed after its first event), `cancelled`, or why it failed before its first event.',
      examples: ['timed_out'],
    }),
    duration_ms: number,
    error: z
      .object({
        http_status: z
          .int()
          .nullable()
          .meta({ description: 'Null for an error within a successful response.' }),
        code: z.string().nullable(),
        type: z.string().nullable(),
        text: z.string().nullable().meta({
          description:
            'Without secrets. Null unless `GATEWAY_LOG_PROVIDER_ERROR_TEXTS` is on, since it may quote the prompt.',
        }),
      })
      .nullable()
      .meta({
        description: "The provider's error. Null if it reported none, or unless you are an operator.",
      }),
  })
  .meta({ id: 'ProviderAttempt' });

export const ledgerEntry = z
  .object({
    kind: z.enum(['credit', 'correction', 'hold', 'extension', 'settlement', 'void']),
    posted_at: time,
    credit_usd: usd.meta({ description: 'The change of available credit.' }),
    held_usd: usd.meta({ description: 'The change of held credit.' }),
    revenue_usd: usd.meta({ description: 'Cost charged.' }),
    uncollected_usd: usd.meta({ description: 'Cost that exceeded the balance or the budget of the run.' }),
  })
  .meta({ id: 'LedgerEntry', description: 'One ledger entry.' });

export const generationDetail = z
  .object({
    ...shared,
    ...tokens,
    error_message: z
      .string()
      .nullable()
      .meta({ description: 'What the error code means; null without one.' }),
    project_id: id
      .nullable()
      .meta({ description: 'The project of the key when the request was admitted; null without one.' }),
    settled_at: time,
    usage_source: z
      .enum(['provider', 'counted'])
      .nullable()
      .meta({ description: 'Who counted the tokens; null without an event of the provider.' }),
    latency_ms: number.meta({
      description: "From admission to the provider's first event, or to the failure without one.",
    }),
    generation_time_ms: number.meta({ description: 'From the first event to the last.' }),
    cost_by_kind: z.array(generationCost).nullable().meta({ description: 'Null if not recorded.' }),
    attempts: z.array(providerAttempt).nullable().meta({
      description: 'Calls to providers, in order; null if not recorded.',
    }),
    ledger_entries: z
      .array(ledgerEntry)
      .nullable()
      .meta({ description: 'In order; null when the ledger is unavailable.' }),
  })
  .meta({ id: 'GenerationDetail' });

const generationFilters = {
  search: z
    .string()
    .min(1)
    .max(500)
    .optional()
    .meta({ description: 'The complete id of a generation, a request or an external user.' }),
  since: time.optional().meta({ description: 'Admitted at or after this time.' }),
  until: time.optional().meta({ description: 'Admitted before this time.' }),
  model_id: z.string().max(200).optional(),
  key_id: z.string().max(100).optional(),
  external_user: z.string().max(512).optional(),
  tag: z
    .string()
    .regex(/^[A-Za-z0-9_.-]{1,64}:.{1,256}$/su, {
      error: 'must be the name and value of a usage tag, such as team:blue',
    })
    .optional()
    .meta({ description: 'The name and value of a usage tag.', examples: ['customer_id:acme'] }),
  api_type: apiType.optional(),
  status: status.optional(),
  error_code: z.string().max(100).optional(),
  project_id: z.string().max(100).optional().meta({ description: 'Empty: generations of no project.' }),
  min_cost_usd: amountUsd.optional(),
  max_cost_usd: amountUsd.optional(),
};

const refusedRequest = z
  .object({
    request_id: id,
    refused_at: time,
    key_id: id,
    model: z
      .string()
      .nullable()
      .meta({ description: 'As the client named it, shortened; null if it is unknown.' }),
    error_code: z.string(),
    error_message: z.string().meta({ description: 'As the client received it, shortened.' }),
    api_type: apiType,
  })
  .meta({ id: 'RefusedRequest' });

const refusedQuery = z.strictObject({
  request_id: z.string().min(1).max(500).optional(),
  key_id: z.string().max(100).optional(),
  model: z.string().max(200).optional().meta({ description: 'As the client named it.' }),
  error_code: z.string().max(100).optional(),
  api_type: apiType.optional(),
});

export const generationEndpoints = {
  list: endpoint({
    method: 'GET',
    path: '/api/organizations/{organization_id}/generations',
    owner: 'generation-query',
    access: 'usage:read',
    summary: 'List settled generations, newest first',
    description:
      'Each request searches a bounded range. When matches are rare, a page may have few results or none although older ones exist: `searched_until` is how far the search got, and `next_page_token` continues from there.',
    query: pageQuery.extend(generationFilters),
    response: json(
      page(generationSummary).extend({
        searched_until: time
          .nullable()
          .meta({ description: 'The search covered everything since this time; null: everything.' }),
      }),
    ),
    compressed: true,
  }),
  refused: endpoint({
    method: 'GET',
    path: '/api/organizations/{organization_id}/refused-requests',
    owner: 'generation-query',
    access: 'usage:read',
    summary: 'List the latest refused requests, newest first',
    description:
      'Requests for generations that ended with an error and have none. Only the latest 20 of each error code are kept; all of them are counted in usage. They appear within seconds.',
    query: refusedQuery,
    response: json(z.object({ data: z.array(refusedRequest) })),
    compressed: true,
  }),
  csv: endpoint({
    method: 'GET',
    path: '/api/organizations/{organization_id}/generations.csv',
    access: 'usage:read',
    summary: 'Download settled generations as CSV, newest first',
    query: z.strictObject(generationFilters),
    response: stream('text/csv'),
  }),
  refusedCsv: endpoint({
    method: 'GET',
    path: '/api/organizations/{organization_id}/refused-requests.csv',
    access: 'usage:read',
    summary: 'Download the latest refused requests as CSV, newest first',
    query: refusedQuery,
    response: stream('text/csv'),
  }),
  get: endpoint({
    method: 'GET',
    path: '/api/organizations/{organization_id}/generations/{generation_id}',
    access: 'usage:read',
    summary: 'Get a generation with all details',
    response: json(z.object({ generation: generationDetail })),
  }),
} as const;
