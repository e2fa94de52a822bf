import { isRefusal } from '@gateway/errors';
import { validateChatRequest, type JsonObject, type TokenCounter } from '@gateway/public-api';
import type { EstimateRequest } from './ports';

/** Estimates with the very functions by which the edge decides what to hold, for whoever wants to know before. */
export function createEstimator(tokenCounter: TokenCounter): EstimateRequest {
  return async (body, { limits, models }) => {
    const views = new Map(
      models.flatMap((model) => {
        const { id, prices, tokenCounting } = model;
        return prices && tokenCounting ? [[id, { ...model, prices, tokenCounting }] as const] : [];
      }),
    );
    const judged = await validateChatRequest(body as JsonObject, {
      policy: {
        allowedModels: [],
        maxOutputTokensCap: limits?.maxOutputTokens,
        multipleCompletions: limits?.multipleCompletions ?? false,
      },
      findModel: (id) => views.get(id),
      tokenCounter,
    });
    if (isRefusal(judged)) return judged;
    const { estimatedInputTokens, maxOutputTokens, heldCost } = judged;
    return { estimatedInputTokens, maxOutputTokens, heldCostNanoUsd: heldCost };
  };
}
