import { maxPlausiblePromptTokens, worstCaseCost, type NanoUsd } from '@gateway/base';
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
    ...{ images, estimatedImageTokens: imageTokens, hasDefinitions },
  });
  const heldInputTokens = Math.max(chat.heldInputTokens, Math.min(largest, chat.model.contextLength));
  const holding = { ...chat, heldInputTokens };
  return { ...holding, heldCost: heldCostOf(holding, chat.maxOutputTokens) };
}
