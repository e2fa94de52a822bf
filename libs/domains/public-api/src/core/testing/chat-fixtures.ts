import { isRefusal, type Refusal } from '@gateway/errors';
import type { FormatName } from '../formats/request-format';
import type { JsonObject, JsonValue } from '../json/json-value';
import type { CallerPolicy, ModelView, TokenCounter, ValidatedChatRequest } from '../chat-completion/types';
import { validateChatRequest } from '../chat-completion/validate-chat-request';

/** A model with every capability. */
export const ableModel: ModelView = {
  id: 'acme/able',
  disabled: false,
  contextLength: 8_192,
  maxOutputTokens: 4_096,
  capabilities: [
    'tools',
    'vision',
    'files',
    'json_mode',
    'structured_outputs',
    'reasoning',
    'logprobs',
    'logit_bias',
    'parallel_tool_calls',
    'verbosity',
    'prompt_cache',
    'prediction',
  ],
  reasoningEfforts: ['low', 'medium', 'high'],
  prices: {
    inputNanoUsdPerMillion: 3_000_000_000n,
    cachedInputNanoUsdPerMillion: 300_000_000n,
    cacheWriteNanoUsdPerMillion: 3_750_000_000n,
    cacheWrite1hNanoUsdPerMillion: 6_000_000_000n,
    outputNanoUsdPerMillion: 15_000_000_000n,
    reasoningNanoUsdPerMillion: 20_000_000_000n,
    imageNanoUsdPerMillion: 5_000_000_000n,
    tiers: [],
  },
  tokenCounting: {
    encoding: 'o200k_base',
    factor: 1,
    imageFormula: 'tiles',
    imageTokens: 1_000,
    pageTokens: 1_500,
  },
  extraParameters: [],
  forwardReasoningContent: false,
  targetPlaces: [{ provider: 'acme', region: 'eu' }],
  writesCacheImplicitly: true,
};

/** A model without capabilities. */
export const plainModel: ModelView = {
  ...ableModel,
  id: 'acme/plain',
  capabilities: [],
  reasoningEfforts: [],
};

/** A model with extra parameters. */
export const extraModel: ModelView = {
  ...ableModel,
  id: 'acme/extra',
  extraParameters: ['top_k', 'guided_regex', '__proto__', 'constructor'],
  forwardReasoningContent: true,
};

/** A model with tools only. */
const toolsModel: ModelView = { ...plainModel, id: 'acme/tools', capabilities: ['tools'] };

/** A model that enforces JSON, but no schema. */
const jsonModel: ModelView = { ...plainModel, id: 'acme/json', capabilities: ['json_mode'] };

/** A model that enforces a schema only. */
const schemaModel: ModelView = { ...plainModel, id: 'acme/schema', capabilities: ['structured_outputs'] };

export const disabledModel: ModelView = { ...extraModel, id: 'acme/disabled', disabled: true };

const models = new Map(
  [ableModel, plainModel, toolsModel, jsonModel, schemaModel, extraModel, disabledModel].map((model) => [
    model.id,
    model,
  ]),
);

/** Four characters per token, for tests that are not about counting. */
export const quarterCounter: TokenCounter = {
  count: (text) => Math.ceil(text.length / 4),
  countSize: ({ length }) => Math.ceil(length / 4),
};

export const openPolicy: CallerPolicy = {
  allowedModels: [],
  multipleCompletions: false,
  jsonStreaming: false,
};

/** A valid body with the given fields added; undefined removes one. */
export function chatBody(fields: Readonly<Record<string, JsonValue | undefined>> = {}): JsonObject {
  const body: Record<string, JsonValue | undefined> = {
    model: 'acme/able',
    messages: [{ role: 'user', content: 'Hello' }],
    ...fields,
  };
  const present = Object.entries(body).filter(
    (entry): entry is [string, JsonValue] => entry[1] !== undefined,
  );
  return Object.fromEntries(present);
}

/** Validates with a synchronous counter. */
export function validate(
  body: JsonObject,
  policy: Partial<CallerPolicy> = {},
  tokenCounter: TokenCounter = quarterCounter,
  format: FormatName = 'chat',
  dropsHostedTools = false,
): ValidatedChatRequest | Refusal {
  const result = validateChatRequest(body, {
    policy: { ...openPolicy, ...policy },
    findModel: (id) => models.get(id),
    tokenCounter,
    format,
    dropsHostedTools,
  });
  if (result instanceof Promise) throw new Error('the counter of this test must be synchronous');
  return result;
}

/** Code and param of a refusal, such as "invalid_request n"; otherwise "accepted". */
export function verdict(result: ValidatedChatRequest | Refusal): string {
  if (!isRefusal(result)) return 'accepted';
  return result.param === undefined ? result.code : `${result.code} ${result.param}`;
}

export function accepted(result: ValidatedChatRequest | Refusal): ValidatedChatRequest {
  if (isRefusal(result)) throw new Error(`refused: ${result.code} ${result.param} ${result.message}`);
  return result;
}

export function refused(result: ValidatedChatRequest | Refusal): Refusal {
  if (!isRefusal(result)) throw new Error('accepted');
  return result;
}

/** The forwarded body. */
export function forwarded(result: ValidatedChatRequest | Refusal): JsonObject {
  return JSON.parse(accepted(result).bodyJson.toString()) as JsonObject;
}
