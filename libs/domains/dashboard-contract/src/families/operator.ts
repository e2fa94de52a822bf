import { z } from 'zod';
import { endpoint, json } from '../endpoint';
import { count, time, usd } from '../fields';

const number = z.int().min(0);

const modelPrices = z
  .object({
    input_usd_per_million: usd,
    cached_input_usd_per_million: usd,
    output_usd_per_million: usd,
    reasoning_usd_per_million: usd,
    image_usd_per_million: usd,
  })
  .meta({ id: 'ModelPrices' });

const target = {
  provider: z.string(),
  provider_model: z.string(),
};

const drained = z
  .object({ since: time, by: z.string(), reason: z.string() })
  .meta({ id: 'Drained', description: 'No new request goes there; what runs ends.' });

const catalogueModel = z
  .object({
    id: z.string(),
    name: z.string(),
    owned_by: z.string(),
    disabled: z.boolean(),
    context_length: number,
    max_output_tokens: number,
    capabilities: z.array(z.string()),
    reasoning_efforts: z.array(z.string()),
    prices: modelPrices,
    targets: z
      .array(z.object({ ...target, drained: drained.nullable() }))
      .meta({ description: 'in the order they are tried' }),
  })
  .meta({ id: 'CatalogueModel' });

const catalogue = z
  .object({
    version: z.string().meta({ description: 'grows with each load' }),
    file: z.string().meta({ description: 'the name of the models file' }),
    sha256: z.string().meta({ description: 'of the text that is in force' }),
    loaded_at: time,
    refused: z
      .object({
        since: time,
        faults: z.array(
          z.object({
            message: z.string(),
            line: z.int().min(1).nullable().meta({ description: 'of the file' }),
          }),
        ),
      })
      .nullable()
      .meta({ description: 'a changed file that cannot be used, so that the one before stays in force' }),
    models: z.array(catalogueModel),
  })
  .meta({ id: 'Catalogue' });

const targetHealth = z
  .object({
    ...target,
    breaker: z.enum(['closed', 'half_open', 'open']).meta({ description: 'for all organizations' }),
    organizations_open: number.meta({ description: 'organizations whose own failures keep it from them' }),
    calls: number.meta({ description: 'that ended within the window' }),
    failures: number.meta({ description: 'of those' }),
    failures_by_kind: z.record(z.string(), number),
    first_event: z
      .object({ mean_ms: z.number(), p50_ms: z.number(), p95_ms: z.number() })
      .nullable()
      .meta({ description: 'from sending a request to its first event; null of no calls' }),
    calls_under_way: number,
    drained: drained.nullable(),
    models: z.array(z.string()).meta({ description: 'the models that use it' }),
  })
  .meta({ id: 'TargetHealth' });

const providerHealth = z
  .object({
    window_ms: number,
    observed_at: time,
    observer: z
      .string()
      .meta({ description: 'the router process that was asked; others have seen other calls' }),
    providers: z.array(z.object({ name: z.string(), calls_under_way: number, max_concurrent: number })),
    targets: z.array(targetHealth),
  })
  .meta({ id: 'ProviderHealth' });

const settlementHealth = z
  .object({
    observed_at: time,
    open_holds: z
      .object({
        count: number,
        held_usd: usd,
        oldest_age_ms: number.nullable().meta({ description: 'null when there is none' }),
        overdue: number.meta({ description: 'past their deadline and not voided yet' }),
      })
      .nullable()
      .meta({ description: 'null when it cannot be asked right now' }),
    event_log: z
      .array(
        z.object({
          topic: z.string(),
          group: z.string(),
          waiting: number.meta({ description: 'events that were not handled yet' }),
        }),
      )
      .nullable()
      .meta({ description: 'null when it cannot be asked right now, or counts elsewhere' }),
    spool: z
      .object({ generations: number, bytes: number })
      .nullable()
      .meta({ description: 'finished generations on the disk of the router that was asked' }),
  })
  .meta({ id: 'SettlementHealth' });

const difference = {
  organization_id: z.string(),
  first_seen_at: time,
};

/** How many differences an answer shows; there may be more. */
const known = number.meta({ description: 'how many are known; 1,000 also stands for more' });

const sums = z.object({ generations: number, cost_usd: usd, charged_usd: usd });

const reconciliation = z
  .object({
    observed_at: time,
    ledger: z
      .object({
        last_run_at: time.nullable(),
        reconciled_until: time
          .nullable()
          .meta({ description: 'what was wrong before has been found; null before the first whole round' }),
        known_differences: known,
        differences: z
          .array(
            z.object({
              ...difference,
              kind: z.string().meta({ description: 'what was compared with the postings' }),
              generation_id: z.string().nullable().meta({ description: 'of a settlement' }),
              expected_usd: usd,
              found_usd: usd,
            }),
          )
          .meta({ description: 'the oldest ones' }),
      })
      .nullable()
      .meta({ description: 'the books compared with the postings; null when it cannot be asked right now' }),
    usage: z
      .object({
        compared_until: time
          .nullable()
          .meta({ description: 'settled before then and compared; null before the first time' }),
        known_differences: known,
        differences: z
          .array(
            z.object({
              ...difference,
              kind: z.string().meta({ description: 'what was compared' }),
              starts_at: time.meta({ description: 'of the hour or day' }),
              expected: sums,
              found: sums,
            }),
          )
          .meta({ description: 'the oldest ones' }),
      })
      .nullable()
      .meta({ description: 'usage compared with settlements; null when it cannot be asked right now' }),
  })
  .meta({ id: 'Reconciliation' });

export const operatorEndpoints = {
  catalogue: endpoint({
    method: 'GET',
    path: '/api/operator/catalogue',
    who: 'platform:models',
    summary: 'The model catalogue as it is loaded',
    answer: json(z.object({ catalogue })),
  }),
  providerHealth: endpoint({
    method: 'GET',
    path: '/api/operator/providers',
    who: 'platform:models',
    summary: 'How the targets of models do',
    answer: json(z.object({ health: providerHealth })),
  }),
  drainTarget: endpoint({
    method: 'PUT',
    path: '/api/operator/targets/drain',
    who: 'platform:models',
    summary: 'Keep new requests from a target, or let them on again',
    description:
      'Kept in the database and in force in every router within seconds. When all targets of a model are drained its requests get 503 `no_capacity`.',
    body: z.strictObject({
      provider: z.string().max(200),
      provider_model: z.string().max(200),
      drained: z.boolean(),
      reason: z.string().trim().min(1).max(500),
    }),
    answer: json(z.object({ target: z.object({ ...target, drained: drained.nullable() }) })),
    audit: ['target.drain', 'target.resume'],
    errors: ['not_found'],
  }),
  settlementHealth: endpoint({
    method: 'GET',
    path: '/api/operator/settlement',
    who: 'platform:settlement',
    summary: 'How settlement does',
    answer: json(z.object({ health: settlementHealth })),
  }),
  reconciliation: endpoint({
    method: 'GET',
    path: '/api/operator/reconciliation',
    who: 'platform:settlement',
    summary: 'Whether the books, the postings and usage agree',
    answer: json(z.object({ reconciliation })),
  }),
  version: endpoint({
    method: 'GET',
    path: '/api/operator/version',
    who: 'platform:organizations',
    summary: 'What runs',
    answer: json(
      z.object({
        version: z.string(),
        node: z.string(),
        started_at: time,
      }),
    ),
  }),
} as const;

/** What everybody who is signed in sees of a model: no targets. */
export const offeredModel = catalogueModel
  .omit({ targets: true, disabled: true })
  .extend({ max_output_tokens: count })
  .meta({ id: 'OfferedModel' });
