import type { Capability, Prices, TokenPrices } from '@gateway/base';
import { mayUseModel, type ModelPolicy } from '../chat-completion/rules/model-access';
import { isEmbeddingModel } from '../chat-completion/rules/read-body';
import { hasCapability } from '../chat-completion/rules/model-support';
import { chatFields } from '../chat-completion/schema/fields';
import { embeddingsFields } from '../formats/embeddings/fields';
import type { ModelView } from '../chat-completion/types';

/** A model with the properties that only the model list shows. */
export interface ListedModel extends ModelView {
  readonly name: string;
  readonly ownedBy: string;
  readonly createdUnixS: number;
  readonly defaultReasoningEffort?: string | undefined;
}

/** Capabilities with their own error code; the others appear as supported parameters. */
const PUBLIC_CAPABILITIES: readonly Capability[] = [
  'tools',
  'vision',
  'files',
  'json_mode',
  'structured_outputs',
  'reasoning',
];

/** Fields that other rules than the field table refuse, and the capabilities that each needs one of. */
const FIELD_CAPABILITIES: Readonly<Record<string, readonly Capability[]>> = {
  tools: ['tools'],
  tool_choice: ['tools'],
  response_format: ['json_mode', 'structured_outputs'],
  reasoning_effort: ['reasoning'],
};

/**
 * The response of GET /v1/models: enabled models that the key may use, sorted by id.
 *
 * @param paths the inference endpoints of the deployment; a model's own are named where there are several.
 */
export function modelListView(
  models: Iterable<ListedModel>,
  policy: ModelPolicy,
  paths: readonly string[] = [],
): object {
  const available = [...models].filter(
    (model) => !model.disabled && mayUseModel(model, policy) && isServed(model, paths),
  );
  available.sort((one, other) => (one.id < other.id ? -1 : 1));
  return { object: 'list', data: available.map((model) => modelView(model, paths)) };
}

const EMBEDDINGS = '/v1/embeddings';

/** The endpoints that a model serves. */
function pathsOf(model: ListedModel, paths: readonly string[]): readonly string[] {
  return paths.filter((path) => (path === EMBEDDINGS) === isEmbeddingModel(model));
}

/** An embedding model needs its endpoint. */
function isServed(model: ListedModel, paths: readonly string[]): boolean {
  return !isEmbeddingModel(model) || paths.includes(EMBEDDINGS);
}

function modelView(model: ListedModel, paths: readonly string[]): object {
  const isEmbedding = isEmbeddingModel(model);
  const capabilities = PUBLIC_CAPABILITIES.filter((name) => hasCapability(model, name));
  return {
    id: model.id,
    object: 'model',
    created: model.createdUnixS,
    owned_by: model.ownedBy,
    name: model.name,
    context_length: model.contextLength,
    max_output_tokens: model.maxOutputTokens,
    capabilities,
    ...(model.reasoningEfforts.length === 0
      ? {}
      : {
          reasoning: {
            supported_efforts: model.reasoningEfforts,
            ...(model.defaultReasoningEffort === undefined
              ? {}
              : { default_effort: model.defaultReasoningEffort }),
          },
        }),
    architecture: {
      input_modalities: [
        'text',
        ...(hasCapability(model, 'vision') ? ['image'] : []),
        ...(hasCapability(model, 'files') ? ['file'] : []),
      ],
      output_modalities: [isEmbedding ? 'embeddings' : 'text'],
    },
    ...(isEmbedding ? { dimensions: model.embeddingDimensions } : {}),
    ...(paths.length > 1 ? { endpoints: pathsOf(model, paths) } : {}),
    supported_parameters: isEmbedding ? embeddingParameters(model) : supportedParameters(model),
    pricing: pricingView(model.prices),
  };
}

function embeddingParameters({ extraParameters }: ModelView): readonly string[] {
  const ofSchema = embeddingsFields.filter(({ disposition }) => disposition === 'honour');
  return [...ofSchema.map(({ name }) => name), ...extraParameters];
}

function supportedParameters(model: ModelView): readonly string[] {
  const ofSchema = chatFields.filter((field) => {
    const needed = field.capability === undefined ? FIELD_CAPABILITIES[field.name] : [field.capability];
    const hasEffect = field.disposition === 'honour' || field.disposition === 'forward';
    return hasEffect && (needed === undefined || needed.some((each) => hasCapability(model, each)));
  });
  return [...ofSchema.map((field) => field.name), ...model.extraParameters];
}

function pricingView(prices: Prices): object {
  return {
    ...tokenPricesView(prices),
    ...(prices.tiers.length > 0 && {
      tiers: prices.tiers.map((tier) => ({
        above_prompt_tokens: tier.abovePromptTokens,
        ...tokenPricesView(tier),
      })),
    }),
  };
}

function tokenPricesView(prices: TokenPrices): object {
  return {
    prompt: usdPerToken(prices.inputNanoUsdPerMillion),
    completion: usdPerToken(prices.outputNanoUsdPerMillion),
    image_token: usdPerToken(prices.imageNanoUsdPerMillion),
    input_cache_read: usdPerToken(prices.cachedInputNanoUsdPerMillion),
    input_cache_write: usdPerToken(prices.cacheWriteNanoUsdPerMillion),
    input_cache_write_1h: usdPerToken(prices.cacheWrite1hNanoUsdPerMillion),
    internal_reasoning: usdPerToken(prices.reasoningNanoUsdPerMillion),
  };
}

/** Nano-dollars per million tokens are 10^-15 dollars per token. */
const FRACTION_DIGITS = 15;

/** The exact decimal text of a price in US dollars per token, such as "0.000003". */
export function usdPerToken(nanoUsdPerMillion: bigint): string {
  const digits = nanoUsdPerMillion.toString().padStart(FRACTION_DIGITS + 1, '0');
  const whole = digits.slice(0, -FRACTION_DIGITS);
  const fraction = digits.slice(-FRACTION_DIGITS).replace(/0+$/, '');
  return fraction ? `${whole}.${fraction}` : whole;
}
