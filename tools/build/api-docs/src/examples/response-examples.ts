import { costOfUsage, type UnixMs, usdNumber, type UtcDay } from '@gateway/base';
import {
  creditsView,
  generationView,
  modelListView,
  type ResponseContext,
  responseFormats,
  type UsageSums,
  usageView,
} from '@gateway/public-api';
import type { ResponseExamples } from '../openapi/examples';
import {
  ABLE,
  cents,
  CHAT_REQUEST,
  EMBEDDING,
  EMBEDDINGS_REQUEST,
  GENERATION_ID,
  RESPONSE_REQUEST,
  MODELS,
  NOW,
  REQUEST_ID,
} from './example-data';

const CONTEXT: ResponseContext = {
  generationId: GENERATION_ID,
  createdUnixS: Math.floor(NOW / 1000),
  modelId: ABLE,
  estimatedInputTokens: 12,
  n: 1,
  includeUsage: true,
  requested: {},
};

/** One example per kind of response, rendered by the gateway's own views where possible. */
export function responseExamples(): ResponseExamples {
  const usage = {
    promptTokens: 12,
    cachedTokens: 0,
    cacheWriteTokens: 0,
    cacheWrite1hTokens: 0,
    imageTokens: 0,
    completionTokens: 9,
    reasoningTokens: 0,
  };
  const prices = MODELS[0]?.prices;
  if (!prices) throw new Error('the examples have no model');
  const cost = costOfUsage(usage, prices);
  const chatCompletion = {
    id: GENERATION_ID,
    object: 'chat.completion',
    created: Math.floor(NOW / 1000),
    model: ABLE,
    choices: [
      {
        index: 0,
        message: { role: 'assistant', content: 'Hello! How can I help you?', refusal: null },
        logprobs: null,
        finish_reason: 'stop',
      },
    ],
    usage: {
      prompt_tokens: usage.promptTokens,
      completion_tokens: usage.completionTokens,
      total_tokens: usage.promptTokens + usage.completionTokens,
      prompt_tokens_details: { cached_tokens: usage.cachedTokens, cache_write_tokens: 0 },
      completion_tokens_details: { reasoning_tokens: usage.reasoningTokens },
      cost: usdNumber(cost),
    },
  };
  const stored = Buffer.from(JSON.stringify(chatCompletion));
  const sums: UsageSums = { requests: 1, ...usage, costNanoUsd: cost };

  return {
    chatRequest: CHAT_REQUEST,
    chatCompletion,
    chatStream: responseFormats.chat.replay(stored, CONTEXT),
    messageRequest: CHAT_REQUEST,
    message: JSON.parse(String(responseFormats.messages.response(stored, CONTEXT))) as object,
    messageStream: responseFormats.messages.replay(stored, CONTEXT),
    messageTokens: { input_tokens: CONTEXT.estimatedInputTokens },
    responseRequest: RESPONSE_REQUEST,
    response: JSON.parse(String(responseFormats.responses.response(stored, CONTEXT))) as object,
    responseStream: responseFormats.responses.replay(stored, CONTEXT),
    embeddingsRequest: EMBEDDINGS_REQUEST,
    embeddings: {
      object: 'list',
      data: [{ object: 'embedding', index: 0, embedding: [0.25, -0.5, 0.125] }],
      model: EMBEDDING,
      usage: { prompt_tokens: 3, total_tokens: 3, cost: 0.00000006 },
    },
    models: modelListView(MODELS, { allowedModels: [ABLE] }),
    credits: creditsView({
      totalCreditsNanoUsd: cents(10_050),
      totalUsageNanoUsd: cents(2_575),
      heldNanoUsd: cents(35),
    }),
    generation: generationView({
      id: GENERATION_ID,
      modelId: ABLE,
      requestId: REQUEST_ID,
      createdAt: (NOW + 40) as UnixMs,
      streamed: false,
      cancelled: false,
      finishReason: 'stop',
      usage,
      usageSource: 'provider',
      chargedNanoUsd: cost,
      latencyMs: 310,
      generationTimeMs: 1_200,
      apiType: 'completions',
    }),
    usage: usageView(
      {
        startDate: '2026-10-22' as UtcDay,
        endDate: '2026-11-20' as UtcDay,
        groupBy: ['day', 'model'],
      },
      sums,
      [{ date: '2026-11-20', modelId: ABLE, ...sums }],
    ),
  };
}
