import { nanoUsd, type UnixMs } from '@gateway/base';
import type { Refusal } from '@gateway/errors';
import {
  type CallerPolicy,
  type JsonObject,
  type ListedModel,
  type TokenCounter,
  type ValidatedChatRequest,
  validateChatRequest,
} from '@gateway/public-api';

/** The models, requests and times of all examples. */

export const NOW = Date.parse('2026-11-20T07:24:48.500Z') as UnixMs;
export const GENERATION_ID = 'gen-01KAGD1R2M6QW8ZJ4T0V5XN3YB';
export const REQUEST_ID = 'req_01KAGD1R2KC7F9E3HS6P8A1DMG';

const able: ListedModel = {
  id: 'acme/m-1',
  name: 'M-1',
  ownedBy: 'acme',
  createdUnixS: 1_764_000_000,
  disabled: false,
  contextLength: 131_072,
  maxOutputTokens: 16_384,
  capabilities: ['tools', 'vision', 'json_mode', 'structured_outputs', 'reasoning'],
  reasoningEfforts: ['low', 'medium', 'high'],
  defaultReasoningEffort: 'medium',
  prices: {
    inputNanoUsdPerMillion: 3_000_000_000n,
    cachedInputNanoUsdPerMillion: 300_000_000n,
    cacheWriteNanoUsdPerMillion: 3_750_000_000n,
    cacheWrite1hNanoUsdPerMillion: 6_000_000_000n,
    outputNanoUsdPerMillion: 15_000_000_000n,
    reasoningNanoUsdPerMillion: 15_000_000_000n,
    imageNanoUsdPerMillion: 3_000_000_000n,
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

const plain: ListedModel = {
  ...able,
  id: 'acme/m-1-mini',
  name: 'M-1 mini',
  capabilities: [],
  reasoningEfforts: [],
  defaultReasoningEffort: undefined,
};

export const MODELS: readonly ListedModel[] = [able, plain];
export const ABLE = able.id;
export const PLAIN = plain.id;

export const CHAT_REQUEST: JsonObject = {
  model: ABLE,
  messages: [{ role: 'user', content: 'Say hello.' }],
  max_tokens: 100,
};

export const RESPONSE_REQUEST: JsonObject = {
  model: ABLE,
  input: 'Say hello.',
  max_output_tokens: 100,
};

export const EMBEDDING = 'acme/embed-1';

export const EMBEDDINGS_REQUEST: JsonObject = { model: EMBEDDING, input: ['Hello'] };

const openPolicy: CallerPolicy = { allowedModels: [], multipleCompletions: false, jsonStreaming: false };

/** Four characters per token, a rule of thumb. */
const tokenCounter: TokenCounter = {
  count: (text) => Math.ceil(text.length / 4),
  countSize: ({ length }) => Math.ceil(length / 4),
};

/** The result of the gateway's validation of a body. */
export function judged(body: JsonObject, policy: Partial<CallerPolicy> = {}): ValidatedChatRequest | Refusal {
  const result = validateChatRequest(body, {
    policy: { ...openPolicy, ...policy },
    findModel: (id) => MODELS.find((model) => model.id === id),
    tokenCounter,
  });
  if (result instanceof Promise) throw new Error('the token counter of the examples is synchronous');
  return result;
}

export const cents = (amount: number) => nanoUsd(BigInt(amount) * 10_000_000n);
