import type { NanoUsd } from '@gateway/base';
import { heldCostOf } from './held-cost';
import type { ValidatedChatRequest } from './types';

/**
 * The request with an output limit that the maximum cost covers. Where it does not
 * even cover the input and one token of output, the limit is one token and
 * `heldCost` stays above the maximum.
 */
export function lowerToMaxCost(chat: ValidatedChatRequest, maxCost: NanoUsd): ValidatedChatRequest {
  if (chat.heldCostNanoUsd <= maxCost) return chat;
  const maxOutputTokens = Math.max(Math.min(1, chat.maxOutputTokens), affordableOutputTokens(maxCost, chat));
  return { ...chat, maxOutputTokens, heldCostNanoUsd: heldCostOf(chat, maxOutputTokens) };
}

/** The largest max_tokens whose maximum cost the amount covers; 0 when none. */
export function affordableOutputTokens(available: NanoUsd, chat: ValidatedChatRequest): number {
  let fits = 0;
  let tooMany = chat.maxOutputTokens + 1;
  while (tooMany - fits > 1) {
    const middle = Math.floor((fits + tooMany) / 2);
    if (heldCostOf(chat, middle) <= available) fits = middle;
    else tooMany = middle;
  }
  return fits;
}
