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
import { modelKinds, problemsOfKind } from './embedding-models';
import { presetNames } from './presets';
import { MAX_TOKENS, priceChanges, priceFields, tokens } from './price-schema';

const MAX_TIMEOUT_MS = 86_400_000;
const MAX_DIMENSIONS = 65_536;

const name = z
  .string()
  .regex(/^[a-z0-9][a-z0-9._-]{0,62}$/i, 'must match [A-Za-z0-9._-] and have at most 63 characters');
const milliseconds = z.int().min(1).max(MAX_TIMEOUT_MS);

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

/** A part of a host name or path. */
const placeName = z.string().regex(/^[A-Za-z0-9-]{1,64}$/, 'must be letters, digits and hyphens');

const providerSchema = z.strictObject({
  name: name.describe('Identifier for targets, metrics and the dashboard.'),
  preset: z
    .enum(presetNames)
    .optional()
    .describe('A service known by name. It sets the address, the dialect and the credential.'),
  base_url: z
    .string()
    .optional()
    .describe(
      'Required without a preset. The dialect appends the path of the call, such as /chat/completions.',
    ),
  region: placeName
    .optional()
    .describe('A region of AWS or a location of Google Cloud. Also the default region of targets.'),
  project: placeName.optional().describe('The project of Google Cloud, for the presets of Vertex AI.'),
  resource: placeName.optional().describe('The name of the resource, for the presets of Azure.'),
  api_version: placeName
    .optional()
    .describe('The date of the API, such as 2024-10-21, for the preset azure-openai-dated.'),
  dialect: z
    .enum(dialectNames)
    .optional()
    .describe('Protocol of the provider. Default: that of the preset, else openai.'),
  host: z
    .enum(hosts)
    .optional()
    .describe('The cloud, where it changes the path or the body of calls. Default: that of the preset.'),
  credential: z
    .enum(credentialKinds)
    .optional()
    .describe(
      'How calls are authorized. Default: that of the preset, else bearer, or header with api_key_header.',
    ),
  api_key_env: z
    .string()
    .min(1)
    .optional()
    .describe('Environment variable with the API key. Only for a catalogue in a file.'),
  api_key_file: z
    .string()
    .min(1)
    .optional()
    .describe('File with the API key. Only for a catalogue in a file.'),
  api_key_secret: name
    .optional()
    .describe('Name of a stored secret with the API key. Only for a catalogue in the database.'),
  api_key_header: headerName.optional().describe('Header of the API key, for the credential header.'),
  headers: z
    .record(headerName, headerValue)
    .default({})
    .describe('Further headers of every call, such as {"x-team": "blue"} or {"x-key": {"secret": "name"}}.'),
  timeouts: z
    .strictObject({
      connect_ms: milliseconds.default(5_000).describe('Milliseconds to connect.'),
      first_event_ms: milliseconds
        .default(300_000)
        .describe('Milliseconds to the first event of a streaming response.'),
      first_byte_ms: milliseconds
        .default(300_000)
        .describe('Milliseconds to the first byte of a non-streaming response.'),
      // Models reason between a first chunk and their text, too. AWS recommends read timeouts of minutes.
      idle_ms: milliseconds.default(300_000).describe('Milliseconds between two chunks of a response.'),
      total_ms: milliseconds
        .default(590_000)
        .describe('Milliseconds for the whole generation, retries and earlier targets included.'),
    })
    .prefault({})
    .describe('Limits of a call, in milliseconds.'),
  max_concurrent: z
    .int()
    .min(1)
    .max(100_000)
    .default(512)
    .describe('Concurrent calls per router. Further requests use the next target, or get no_capacity.'),
  max_attempts: z
    .int()
    .min(1)
    .max(5)
    .default(3)
    .describe('Calls to one target for one request, the first included.'),
  max_tokens_parameter: z
    .enum(maxTokensParameters)
    .optional()
    .describe('Name of the output limit in calls, for the dialect openai. Default: that of the preset.'),
  developer_role: z
    .enum(['developer', 'system'])
    .optional()
    .describe(
      'Role as which messages of the role developer are sent. Default: that of the preset, else developer.',
    ),
  stream_options: z
    .boolean()
    .optional()
    .describe(
      'Sends stream_options with streams, for their usage. For the dialect openai. Default: that of the preset, else true.',
    ),
  json_streams: z
    .boolean()
    .optional()
    .describe(
      'Streams with a JSON response format are requested as streams. If not, they are requested whole, and sent to the client in one chunk. Default: that of the preset, else true.',
    ),
  send_traceparent: z
    .boolean()
    .default(false)
    .describe('Sends the W3C trace context. Only for your own model servers.'),
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
    id: z
      .string()
      .regex(/^[A-Za-z0-9][A-Za-z0-9._:/-]{0,127}$/, 'must be an id such as "acme/m-1"')
      .describe('What clients send as model, such as acme/m-1.'),
    kind: z
      .enum(modelKinds)
      .default('chat')
      .describe(
        'embedding: a model for POST /v1/embeddings. It needs dimensions, and has neither max_output_tokens nor a price of output.',
      ),
    name: z.string().min(1).max(128).optional().describe('Display name in /v1/models. Default: the id.'),
    owned_by: z.string().min(1).max(128).default('gateway').describe('Owner in /v1/models.'),
    created: z.int().min(0).default(0).describe('Creation time in /v1/models, in Unix seconds.'),
    disabled: z
      .boolean()
      .default(false)
      .describe('Requests get model_not_found. Past usage keeps its name and prices.'),
    targets: z
      .array(
        z.strictObject({
          provider: z.string().describe('Name of a provider.'),
          model: z.string().min(1).max(256).describe('The provider’s name of the model.'),
          max_tokens_parameter: z
            .enum(maxTokensParameters)
            .optional()
            .describe('Name of the output limit in calls. Default: that of the provider.'),
          region: placeName
            .optional()
            .describe('Where the provider processes requests, such as eu. Default: that of the provider.'),
          weight: z
            .int()
            .min(1)
            .max(1_000)
            .optional()
            .describe('Share of requests in proportion to other targets, with routing: weight. Default: 1.'),
          retry_timeouts: z
            .boolean()
            .default(true)
            .describe('Sends a request that times out before its first event once more.'),
          forward_reasoning_content: z
            .boolean()
            .optional()
            .describe(
              'Sends reasoning_content of earlier turns, which some reasoning models need. Default: that of the preset.',
            ),
          drops: z
            .array(z.string().regex(/^[a-z][a-z0-9_]{0,63}$/, 'is not a field name'))
            .default([])
            .describe(
              'Request fields that are not sent, such as temperature, in addition to those of the preset.',
            ),
          reasoning_budgets: z
            .record(
              z.string().regex(/^[a-z]{1,32}$/, 'must be a lower-case word'),
              z.int().min(0).max(MAX_TOKENS),
            )
            .optional()
            .describe('Tokens by reasoning_effort, such as {"low": 1024}. Not for the dialect openai.'),
          cost: z
            .strictObject(priceFields)
            .optional()
            .describe('What you pay the provider, for the margin. Customers never see it.'),
        }),
      )
      .min(1, 'needs at least one target')
      .max(16)
      .describe('Where requests are sent. When one fails before its first event, the next one is called.'),
    routing: z
      .enum(routings)
      .default('order')
      .describe('Which target is called first: in order, by weight, by lowest cost or by lowest latency.'),
    context_window: tokens.describe(
      'Input and output tokens together. Of an embedding model: the tokens of one input.',
    ),
    max_output_tokens: tokens.describe(
      'Largest output limit, at most context_window. Not for embedding models.',
    ),
    dimensions: z
      .array(z.int().min(1).max(MAX_DIMENSIONS))
      .min(1)
      .max(64)
      .refine((lengths) => new Set(lengths).size === lengths.length, 'must be unique')
      .optional()
      .describe(
        'Of an embedding model: the lengths of embeddings that requests may choose, the default first, such as [1536, 512]. With one, the length is not sent.',
      ),
    capabilities: z
      .array(z.enum(capabilities))
      .default([])
      .describe('Requests that need another one are refused; fields that are only hints are removed.'),
    reasoning_efforts: z
      .array(z.string().regex(/^[a-z]{1,32}$/, 'must be a lower-case word'))
      .default([])
      .describe(
        'Accepted values of reasoning_effort, with the capability reasoning. Without any, the model reasons as it likes.',
      ),
    default_reasoning_effort: z
      .string()
      .optional()
      .describe('The effort that the model uses when a request names none.'),
    prices: z
      .strictObject(priceFields, {
        error: (issue) => (issue.input === undefined ? 'is required: a model needs prices' : undefined),
      })
      .describe('What organizations pay, whichever target runs the request.'),
    price_changes: priceChanges
      .optional()
      .describe('Prices that replace the others at a later time. Earlier requests keep theirs.'),
    tokenizer: z
      .strictObject({
        encoding: z
          .enum(tokenEncodings)
          .default('o200k_base')
          .describe(
            'Encoding with which tokens are estimated, and counted if the provider does not report them.',
          ),
        factor: z
          .number()
          .min(0.1)
          .max(10)
          .default(1)
          .describe('Tokens of this model per token of the encoding.'),
        image_formula: z
          .enum(imageFormulas)
          .default('constant')
          .describe('How the tokens of an image are estimated.'),
        image_tokens: z
          .int()
          .min(0)
          .max(1_000_000)
          .default(2_000)
          .describe('Tokens per image, for the formula constant and for images of unknown size.'),
        page_tokens: z
          .int()
          .min(1)
          .max(1_000_000)
          .default(3_000)
          .describe('Tokens per page of a PDF document, for models with the capability files.'),
      })
      .prefault({})
      .describe('How input tokens are estimated before a request runs.'),
    repair_tool_history: z
      .boolean()
      .default(false)
      .describe(
        'Moves results of tool calls behind their calls, adds missing ones and sends results without a call as text. Providers refuse such histories.',
      ),
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
      .default([])
      .describe('Request fields beyond OpenAI’s that clients may send, such as top_k.'),
  })
  .superRefine((model, context) => {
    const addIssue = (path: string, message: string) =>
      context.addIssue({ code: 'custom', path: [path], message });
    for (const [field, problem] of problemsOfKind(model)) addIssue(field, problem);
    if (model.max_output_tokens > model.context_window) {
      addIssue('max_output_tokens', 'is above context_window');
    }
    const reasons = model.capabilities.includes('reasoning');
    if (!reasons && model.reasoning_efforts.length > 0) {
      addIssue('reasoning_efforts', 'needs the capability "reasoning"');
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
  models: z.array(modelSchema).max(10_000).default([]),
});

export type CatalogueDocument = z.output<typeof catalogueSchema>;
export type ProviderDocument = CatalogueDocument['providers'][number];
export type ModelDocument = CatalogueDocument['models'][number];
