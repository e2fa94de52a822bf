import { z } from 'zod';
import { endpoint, json } from '../endpoint';
import { amountUsd, day, id, page, time, usd } from '../fields';
import { key } from './keys';
import { organization, organizationQuery } from './organizations';
import { reconciliation, settlementHealth } from './settlement';
import { usageTotals } from './usage';

const number = z.int().min(0);

const tokenPrices = {
  input_usd_per_million: usd,
  cached_input_usd_per_million: usd,
  cache_write_usd_per_million: usd,
  cache_write_1h_usd_per_million: usd,
  output_usd_per_million: usd,
  reasoning_usd_per_million: usd,
  image_usd_per_million: usd,
};

const modelPrices = z
  .object({
    ...tokenPrices,
    tiers: z.array(z.object({ above_prompt_tokens: number, ...tokenPrices })).meta({
      description:
        'Prices of all tokens of a request with a longer prompt; the last one that applies counts.',
    }),
  })
  .meta({ id: 'ModelPrices' });

const target = {
  provider: z.string(),
  provider_model: z.string(),
};

const drained = z
  .object({ since: time, by: z.string(), reason: z.string() })
  .meta({ id: 'Drained', description: 'New requests skip this target; requests in progress finish.' });

const switchedOff = z.object({ since: time, by: z.string(), reason: z.string() }).meta({
  id: 'SwitchedOff',
  description:
    'An operator disabled the model: new requests get 404 `model_not_found`; requests in progress finish.',
});

const catalogueModel = z
  .object({
    id: z.string(),
    name: z.string(),
    owned_by: z.string(),
    disabled: z.boolean().meta({ description: 'By the models file or by an operator.' }),
    disabled_in_file: z.boolean().meta({ description: 'Then operators cannot enable it.' }),
    switched_off: switchedOff.nullable(),
    context_length: number,
    max_output_tokens: number,
    capabilities: z.array(z.string()),
    reasoning_efforts: z.array(z.string()),
    prices: modelPrices,
    target_places: z
      .array(z.object({ provider: z.string(), region: z.string().nullable() }))
      .meta({ description: 'The provider and region of each target.' }),
    targets: z
      .array(z.object({ ...target, drained: drained.nullable() }))
      .meta({ description: 'In the order in which they are tried.' }),
  })
  .meta({ id: 'CatalogueModel' });

const catalogue = z
  .object({
    version: z.string().meta({ description: 'Increases with each load.' }),
    file: z
      .string()
      .meta({ description: 'The name of the models file; empty for a catalogue in the database.' }),
    published_version: number
      .nullable()
      .meta({ description: 'The version that this router runs; null for a file, 0 before the first one.' }),
    sha256: z.string().meta({ description: 'Of the active file content.' }),
    loaded_at: time,
    rejected: z
      .object({
        since: time,
        issues: z.array(
          z.object({
            message: z.string(),
            line: z.int().min(1).nullable().meta({ description: 'The line in the file.' }),
          }),
        ),
      })
      .nullable()
      .meta({ description: 'A changed file that failed validation; the previous catalogue stays active.' }),
    models: z.array(catalogueModel),
  })
  .meta({ id: 'Catalogue' });

const targetHealth = z
  .object({
    ...target,
    breaker: z
      .enum(['closed', 'half_open', 'open'])
      .meta({ description: 'The circuit breaker for all organizations.' }),
    open_for_organizations: number.meta({
      description: 'Organizations whose own circuit breaker is open for this target.',
    }),
    calls: number.meta({ description: 'Calls that finished within the window.' }),
    failures: number.meta({ description: 'Failed calls among them.' }),
    failures_by_kind: z.record(z.string(), number),
    first_event: z
      .object({ mean_ms: z.number(), p50_ms: z.number(), p95_ms: z.number() })
      .nullable()
      .meta({ description: 'Time from sending a request to its first event; null without calls.' }),
    calls_in_flight: number,
    drained: drained.nullable(),
    models: z.array(z.string()).meta({ description: 'The models that use this target.' }),
  })
  .meta({ id: 'TargetHealth' });

const providerHealth = z
  .object({
    window_ms: number,
    observed_at: time,
    instance: z.string().meta({ description: 'The router process that reported these figures.' }),
    providers: z.array(z.object({ name: z.string(), calls_in_flight: number, max_concurrent: number })),
    targets: z.array(targetHealth),
  })
  .meta({ id: 'ProviderHealth' });

const margin = z
  .object({
    spend_usd: usd.meta({ description: 'The spend of the requests whose provider cost is known.' }),
    provider_cost_usd: usd.meta({ description: 'What providers cost the operator for these requests.' }),
    margin_usd: usd.meta({ description: '`spend_usd` minus `provider_cost_usd`; may be negative.' }),
  })
  .nullable()
  .meta({ id: 'Margin', description: 'Null when no provider cost is known.' });

export const organizationUsage = z.object({
  last_30_days: usageTotals,
  margin,
  last_used_at: time
    .nullable()
    .meta({ description: 'When its latest settled request was admitted; null: never.' }),
});

const organizationFigures = organization
  .extend({
    balance_usd: usd.nullable().meta({ description: 'Null when the ledger is unavailable.' }),
    usage: organizationUsage.nullable().meta({ description: 'Null when usage is unavailable.' }),
  })
  .meta({ id: 'OrganizationFigures' });

const organizationName = z.object({ id, name: z.string() });

export const foundRequest = z
  .object({
    organization: organizationName,
    request_id: id,
    generation_id: id.nullable().meta({ description: 'Null: the request was refused.' }),
    at: time.meta({ description: 'When the request was admitted or refused.' }),
    error_code: z.string().nullable().meta({ description: 'Null: the request did not fail.' }),
  })
  .meta({ id: 'FoundRequest' });

const foundKey = key
  .pick({ id: true, name: true, last4: true, state: true })
  .extend({ organization: organizationName })
  .meta({ id: 'FoundKey' });

export const operatorEndpoints = {
  findRequests: endpoint({
    method: 'GET',
    path: '/api/operator/requests',
    access: 'platform:organizations',
    summary: 'Find a request in all organizations',
    query: z.strictObject({
      id: z.string().min(1).max(500).meta({ description: 'The id of a request or a generation.' }),
    }),
    response: json(z.object({ data: z.array(foundRequest) })),
  }),
  findKeys: endpoint({
    method: 'GET',
    path: '/api/operator/keys',
    owner: 'auth',
    access: 'platform:organizations',
    summary: 'Find a key in all organizations',
    query: z.strictObject({
      text: z.string().min(1).max(200).meta({
        description:
          'The id of a key, the last four characters of its secret, or the SHA-256 of its secret in hexadecimal.',
      }),
    }),
    response: json(z.object({ data: z.array(foundKey).meta({ description: 'Newest first, at most 20.' }) })),
  }),
  organizations: endpoint({
    method: 'GET',
    path: '/api/operator/organizations',
    access: 'platform:organizations',
    summary: 'List or search all organizations with balance, spend, margin, errors and last use',
    description: 'The last 30 UTC days include today.',
    query: organizationQuery.extend({
      balance_below_usd: amountUsd.optional().meta({
        description:
          'Only organizations that ever had credit, and have a lower balance: at most the 200 with the lowest one.',
        examples: ['10'],
      }),
    }),
    response: json(page(organizationFigures)),
    compressed: true,
  }),
  platformUsage: endpoint({
    method: 'GET',
    path: '/api/operator/usage',
    owner: 'generation-query',
    access: 'platform:organizations',
    summary: 'Get usage and margin of all organizations, also by day, model and provider',
    description: 'Days are UTC. The last 30 days include today.',
    response: json(
      z.object({
        today: usageTotals,
        last_30_days: usageTotals,
        margin,
        days: z
          .array(usageTotals.extend({ day, margin }))
          .meta({ description: 'The days with usage, newest first.' }),
        models: z
          .array(usageTotals.extend({ model_id: id, margin }))
          .meta({ description: 'Those that were used, with the highest spend first.' }),
        providers: z.array(usageTotals.extend({ provider: z.string().nullable(), margin })).meta({
          description:
            'The last provider that each generation called, with the highest spend first; null: none was called.',
        }),
      }),
    ),
    compressed: true,
  }),
  catalogue: endpoint({
    method: 'GET',
    path: '/api/operator/catalogue',
    owner: 'inference-router',
    access: 'platform:models',
    summary: 'Get the active model catalogue',
    response: json(z.object({ catalogue })),
    compressed: true,
  }),
  providerHealth: endpoint({
    method: 'GET',
    path: '/api/operator/providers',
    owner: 'inference-router',
    access: 'platform:models',
    summary: 'Get the health of providers and targets',
    response: json(z.object({ health: providerHealth })),
  }),
  drainTarget: endpoint({
    method: 'PUT',
    path: '/api/operator/targets/drain',
    owner: 'inference-router',
    access: 'platform:models',
    summary: 'Drain or resume a target',
    description:
      'Stored in the database and effective in every router within seconds. When all targets of a model are drained, its requests get 503 `no_capacity`.',
    body: z.strictObject({
      provider: z.string().max(200),
      provider_model: z.string().max(200),
      drained: z.boolean(),
      reason: z.string().trim().min(1).max(500),
    }),
    response: json(z.object({ target: z.object({ ...target, drained: drained.nullable() }) })),
    audit: ['target.drain', 'target.resume'],
    errors: ['not_found'],
  }),
  disableModel: endpoint({
    method: 'PUT',
    path: '/api/operator/models/disabled',
    owner: 'inference-router',
    access: 'platform:models',
    summary: 'Disable or enable a model',
    description:
      'Stored in the database and effective in every router within two seconds. New requests for a disabled model get 404 `model_not_found`, and `GET /v1/models` leaves it out; requests in progress finish. A model that the models file disables stays disabled.',
    body: z.strictObject({
      model: z.string().max(200),
      disabled: z.boolean(),
      reason: z.string().trim().min(1).max(500),
    }),
    response: json(z.object({ model: catalogueModel })),
    audit: ['model.disable', 'model.enable'],
    errors: ['not_found'],
  }),
  settlementHealth: endpoint({
    method: 'GET',
    path: '/api/operator/settlement',
    access: 'platform:settlement',
    summary: 'Get the health of the billing pipeline',
    response: json(z.object({ health: settlementHealth })),
  }),
  reconciliation: endpoint({
    method: 'GET',
    path: '/api/operator/reconciliation',
    access: 'platform:settlement',
    summary: 'Get the reconciliation of balances, postings and usage',
    response: json(z.object({ reconciliation })),
  }),
  version: endpoint({
    method: 'GET',
    path: '/api/operator/version',
    access: 'platform:organizations',
    summary: 'Get the running version',
    response: json(
      z.object({
        version: z.string(),
        node: z.string(),
        started_at: time,
      }),
    ),
  }),
} as const;

/** A model as every signed-in person sees it: without targets. */
export const offeredModel = catalogueModel
  .omit({ targets: true, disabled: true, disabled_in_file: true, switched_off: true })
  .extend({ max_output_tokens: number.nullable().meta({ description: '0 for an embedding model.' }) })
  .meta({ id: 'OfferedModel' });
