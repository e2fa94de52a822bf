import { maxPlausiblePromptTokens, worstCaseCost, type NanoUsd } from '@gateway/base';
import { isEmbeddingModel } from './rules/read-body';
import type { ValidatedChatRequest } from './types';

/** The maximum cost of a request, which is held, if each completion has at most `maxOutputTokens`. */
export function heldCostOf(
  {
    model,
    heldInputTokens,
    n,
    cacheWrites,
  }: Pick<ValidatedChatRequest, 'model' | 'heldInputTokens' | 'n' | 'cacheWrites'>,
  maxOutputTokens: number,
): NanoUsd {
  return worstCaseCost(heldInputTokens, maxOutputTokens * n, model.prices, cacheWrites);
}

/**
 * The request with a hold for the largest prompt that is accepted from a provider, so that it never costs more than
 * it holds. For requests whose cost has a maximum, their own or that of a run.
 */
export function holdingAllInput(chat: ValidatedChatRequest): ValidatedChatRequest {
  const { images, imageTokens, hasDefinitions } = chat.inputParts;
  const largest = maxPlausiblePromptTokens({
    estimatedInputTokens: chat.estimatedInputTokens,
    images,
    estimatedImageTokens: imageTokens,
    hasDefinitions,
  });
  // The context length of an embedding model is that of one input.
  const most = isEmbeddingModel(chat.model) ? largest : Math.min(largest, chat.model.contextLength);
  const heldInputTokens = Math.max(chat.heldInputTokens, most);
  const holding = { ...chat, heldInputTokens };
  return { ...holding, heldCostNanoUsd: heldCostOf(holding, chat.maxOutputTokens) };
}
