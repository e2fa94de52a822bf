import { worstCaseCost, type NanoUsd } from '@gateway/base';
import type { ValidatedChatRequest } from './types';

/** The maximum cost of a request, which is held, if each completion has at most `maxOutputTokens`. */
export function heldCostOf(
  {
    model,
    estimatedInputTokens,
    n,
    cacheWrites,
  }: Pick<ValidatedChatRequest, 'model' | 'estimatedInputTokens' | 'n' | 'cacheWrites'>,
  maxOutputTokens: number,
): NanoUsd {
  const inputTokens = heldInputTokens(estimatedInputTokens);
  return worstCaseCost(inputTokens, maxOutputTokens * n, model.prices, cacheWrites);
}

/** The estimate plus 10%, since tokenizers differ. */
function heldInputTokens(inputTokens: number): number {
  return Math.ceil((inputTokens * 11) / 10);
}
