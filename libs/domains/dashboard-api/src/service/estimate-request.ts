import { isRefusal } from '@gateway/errors';
import { validateChatRequest, type JsonObject, type TokenCounter } from '@gateway/public-api';
import type { EstimateRequest } from './ports';

/** Estimates a request with the same functions as the edge, before it holds credit. */
export function createEstimator(tokenCounter: TokenCounter): EstimateRequest {
  return async (body, { organizationId, limits, targetRules, models }) => {
    const views = new Map(
      models.flatMap((model) => {
        const { id, prices, tokenCounting } = model;
        return prices && tokenCounting ? [[id, { ...model, prices, tokenCounting }] as const] : [];
      }),
    );
    const validated = await validateChatRequest(body as JsonObject, {
      policy: {
        allowedModels: [],
        targetRules,
        maxOutputTokensCap: limits.max_output_tokens ?? undefined,
        multipleCompletions: limits.multiple_completions,
        // As the playground's keys.
        jsonStreaming: false,
      },
      findModel: (id) => views.get(id),
      tokenCounter,
      caller: { owner: organizationId },
    });
    if (isRefusal(validated)) return validated;
    const { estimatedInputTokens, maxOutputTokens, heldCostNanoUsd } = validated;
    return { estimatedInputTokens, maxOutputTokens, heldCostNanoUsd };
  };
}
