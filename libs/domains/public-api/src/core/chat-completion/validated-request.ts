import { withTokenMargin } from '@gateway/base';
import { heldCostOf } from './held-cost';
import type { ModelView, UncountedChatRequest, ValidatedChatRequest } from './types';

/** A request that passed every check, with its hold. */
export function validated(
  {
    stream,
    includeUsage,
    n,
    bodyJson,
    exactSeed,
    signedBy,
    promptCacheKey,
    externalUser,
    tags,
    input,
    isOutputVisible,
    isJson,
    cacheWrites,
    response,
  }: UncountedChatRequest,
  model: ModelView,
  inputTokens: number,
  maxOutputTokens: number,
): ValidatedChatRequest {
  const heldInputTokens = withTokenMargin(inputTokens);
  return {
    model,
    stream,
    includeUsage,
    n,
    bodyJson: Buffer.from(bodyJson.buffer, bodyJson.byteOffset, bodyJson.byteLength),
    exactSeed,
    maxOutputTokens,
    estimatedInputTokens: inputTokens,
    heldInputTokens,
    inputParts: input.parts,
    isOutputVisible,
    isJson,
    cacheWrites,
    heldCostNanoUsd: heldCostOf({ model, heldInputTokens, n, cacheWrites }, maxOutputTokens),
    signedBy,
    promptCacheKey,
    externalUser,
    tags,
    response,
  };
}
