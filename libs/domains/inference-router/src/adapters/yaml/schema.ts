import { parseUsd } from '@gateway/base';
import { z } from 'zod';
import {
  capabilities,
  credentialKinds,
  imageFormulas,
  routings,
  tokenEncodings,
} from '../../core/catalogue/model-catalogue';
import { hosts, maxTokensParameters } from '../../core/dialects/dialect';
import { dialectNames } from '../../core/dialects/registry';
import { presetNames } from './presets';

const MAX_TOKENS = 100_000_000;
const MAX_TIMEOUT_MS = 86_400_000;
const MAX_USD_PER_MILLION = 100_000;
const MAX_PRICE_TIERS = 8;
const MAX_PRICE_CHANGES = 8;

const name = z
  .string()
  .regex(/^[a-z0-9][a-z0-9._-]{0,62}$/i, 'must match [A-Za-z0-9._-] and have at most 63 characters');
const tokens = z.int().min(1).max(MAX_TOKENS);
const milliseconds = z.int().min(1).max(MAX_TIMEOUT_MS);

/** US dollars per million tokens, as nano-dollars per million tokens. */
const price = z
  .string({ error: 'must be US dollars per million tokens as a quoted decimal, such as "0.15"' })
  .transform((text, context) => {
    const amount = parseUsd(text);
    if (amount === undefined || amount < 0n || amount > BigInt(MAX_USD_PER_MILLION) * 1_000_000_000n) {
      context.addIssue({
        code: 'custom',
        message: `must be a decimal from "0" to "${MAX_USD_PER_MILLION}" with at most nine digits after the point`,
      });
      return z.NEVER;
    }
    return amount as bigint;
  });

const headerName = z.string().regex(/^[A-Za-z0-9-]+$/, 'is not a header name');

/** A text, or where a secret value is read from. */
const headerValue = z.union(
  [
    z.string().regex(/^[\x20-\x7e]*$/, 'must be printable ASCII'),
    z.strictObject({ env: z.string().min(1) }),
    z.strictObject({ file: z.string().min(1) }),
    z.strictObject({ secret: name }),
  ],
  { error: 'must be printable ASCII, {env: NAME}, {file: path} or {secret: NAME}' },
);

const tokenPriceFields = {
  input: price,
  cached_input: price.optional(),
  cache_write: price.optional(),
  cache_write_1h: price.optional(),
  output: price,
  reasoning: price.optional(),
  image: price.optional(),
};

const priceFields = {
  ...tokenPriceFields,
  tiers: z
    .array(z.strictObject({ above: tokens, ...tokenPriceFields }))
    .max(MAX_PRICE_TIERS)
    .refine(
      (tiers) => tiers.every(({ above }, index) => index === 0 || above > (tiers[index - 1]?.above ?? 0)),
      'must be in ascending order of "above"',
    )
    .optional(),
};

const priceChanges = z
  .array(
    z.strictObject({
      from: z.iso.datetime({ error: 'must be a time in UTC, such as "2027-01-01T00:00:00Z"' }),
      ...priceFields,
    }),
  )
  .max(MAX_PRICE_CHANGES)
  .refine(
    (changes) =>
      changes.every(
        ({ from }, index) => index === 0 || Date.parse(from) > Date.parse(changes[index - 1]?.from ?? ''),
      ),
    'must be in ascending order of "from"',
  );

/** A part of a host name or path. */
const placeName = z.string().regex(/^[A-Za-z0-9-]{1,64}$/, 'must be letters, digits and hyphens');

const providerSchema = z.strictObject({
  name,
  preset: z.enum(presetNames).optional(),
  base_url: z.string().optional(),
  region: placeName.optional(),
  project: placeName.optional(),
  resource: placeName.optional(),
  api_version: placeName.optional(),
  dialect: z.enum(dialectNames).optional(),
  host: z.enum(hosts).optional(),
  credential: z.enum(credentialKinds).optional(),
  api_key_env: z.string().min(1).optional(),
  api_key_file: z.string().min(1).optional(),
  api_key_secret: name.optional(),
  api_key_header: headerName.optional(),
  headers: z.record(headerName, headerValue).default({}),
  timeouts: z
    .strictObject({
      connect_ms: milliseconds.default(5_000),
      first_event_ms: milliseconds.default(60_000),
      first_byte_ms: milliseconds.default(300_000),
      idle_ms: milliseconds.default(60_000),
      total_ms: milliseconds.default(590_000),
    })
    .prefault({}),
  max_concurrent: z.int().min(1).max(100_000).default(512),
  max_attempts: z.int().min(1).max(5).default(3),
  max_tokens_parameter: z.enum(maxTokensParameters).optional(),
  developer_role: z.enum(['developer', 'system']).default('developer'),
  send_traceparent: z.boolean().default(false),
});

/** Fields that the gateway sets, since they determine the cost of a request. */
const ownFields = [
  'model',
  'messages',
  'stream',
  'stream_options',
  'max_tokens',
  'max_completion_tokens',
  'n',
];
/**
 * Further names that servers use for the output limit or the number of
 * completions. They could make a request cost more than its hold.
 */
const aliasesOfOwnFields = [
  'n_predict',
  'num_predict',
  'max_new_tokens',
  'max_length',
  'max_output_tokens',
  'max_tokens_to_sample',
  'max_gen_len',
  'max_gen_toks',
  'maxtokens',
  'max_len',
  'min_tokens',
  'min_new_tokens',
  'best_of',
  'num_return_sequences',
  'num_beams',
  'num_completions',
  'candidate_count',
  'n_completions',
  'n_cmpl',
  // Objects that may contain any of the above.
  'options',
  'parameters',
  'generation_config',
  'generation_kwargs',
  'sampling_params',
  'extra_body',
];

const modelSchema = z
  .strictObject({
    id: z.string().regex(/^[A-Za-z0-9][A-Za-z0-9._:/-]{0,127}$/, 'must be an id such as "acme/m-1"'),
    name: z.string().min(1).max(128).optional(),
    owned_by: z.string().min(1).max(128).default('gateway'),
    created: z.int().min(0).default(0),
    disabled: z.boolean().default(false),
    targets: z
      .array(
        z.strictObject({
          provider: z.string(),
          model: z.string().min(1).max(256),
          max_tokens_parameter: z.enum(maxTokensParameters).optional(),
          region: placeName.optional(),
          weight: z.int().min(1).max(1_000).optional(),
          retry_timeouts: z.boolean().default(true),
          forward_reasoning_content: z.boolean().default(false),
          drops: z.array(z.string().regex(/^[a-z][a-z0-9_]{0,63}$/, 'is not a field name')).default([]),
          reasoning_budgets: z
            .record(
              z.string().regex(/^[a-z]{1,32}$/, 'must be a lower-case word'),
              z.int().min(0).max(MAX_TOKENS),
            )
            .optional(),
          cost: z.strictObject(priceFields).optional(),
        }),
      )
      .min(1, 'needs at least one target')
      .max(16),
    routing: z.enum(routings).default('order'),
    context_window: tokens,
    max_output_tokens: tokens,
    capabilities: z.array(z.enum(capabilities)).default([]),
    reasoning_efforts: z.array(z.string().regex(/^[a-z]{1,32}$/, 'must be a lower-case word')).default([]),
    default_reasoning_effort: z.string().optional(),
    prices: z.strictObject(priceFields, {
      error: (issue) => (issue.input === undefined ? 'is required: a model needs prices' : undefined),
    }),
    price_changes: priceChanges.optional(),
    tokenizer: z
      .strictObject({
        encoding: z.enum(tokenEncodings).default('o200k_base'),
        factor: z.number().min(0.1).max(10).default(1),
        image_formula: z.enum(imageFormulas).default('constant'),
        image_tokens: z.int().min(0).max(1_000_000).default(2_000),
      })
      .prefault({}),
    extra_parameters: z
      .array(
        z
          .string()
          .regex(/^[a-z][a-z0-9_]{0,63}$/, 'is not a field name')
          .refine((field) => !ownFields.includes(field), 'is set by the gateway')
          .refine(
            (field) => !aliasesOfOwnFields.includes(field),
            'can raise the cost of a request: use max_tokens',
          ),
      )
      .default([]),
  })
  .superRefine((model, context) => {
    const addIssue = (path: string, message: string) =>
      context.addIssue({ code: 'custom', path: [path], message });
    if (model.max_output_tokens > model.context_window) {
      addIssue('max_output_tokens', 'is above context_window');
    }
    const reasons = model.capabilities.includes('reasoning');
    if (reasons !== model.reasoning_efforts.length > 0) {
      addIssue('reasoning_efforts', 'and the capability "reasoning" require each other');
    }
    model.targets.forEach(({ weight, cost }, index) => {
      if (weight !== undefined && model.routing !== 'weight')
        context.addIssue({
          code: 'custom',
          path: ['targets', index, 'weight'],
          message: 'needs "routing: weight"',
        });
      if (cost === undefined && model.routing === 'price')
        context.addIssue({
          code: 'custom',
          path: ['targets', index, 'cost'],
          message: 'is required by "routing: price"',
        });
    });
    const effort = model.default_reasoning_effort;
    if (effort !== undefined && !model.reasoning_efforts.includes(effort)) {
      addIssue('default_reasoning_effort', 'is not one of reasoning_efforts');
    }
  });

/** The schema of the models file. `models.yaml` documents its fields. */
export const catalogueSchema = z.strictObject({
  providers: z.array(providerSchema).min(1, 'needs at least one provider').max(1_000),
  models: z.array(modelSchema).min(1, 'needs at least one model').max(10_000),
});

export type CatalogueDocument = z.output<typeof catalogueSchema>;
export type ProviderDocument = CatalogueDocument['providers'][number];
export type ModelDocument = CatalogueDocument['models'][number];
