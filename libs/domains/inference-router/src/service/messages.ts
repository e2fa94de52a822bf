import { usageSourceMessage } from '@gateway/contracts/common';
import {
  idempotentEndingMessage,
  type GenerationFinished,
  type IdempotentOutcome,
} from '@gateway/contracts/events';
import type {
  GenerateRequest,
  GenerateResponse,
  Model as ModelMessage,
  WatchCatalogueResponse,
} from '@gateway/contracts/inference-router';
import { encryptResponse } from '@gateway/events';
import { placeOf, type Catalogue, type Model } from '../core/catalogue/model-catalogue';
import type { FinishedGeneration, GenerationRequest } from '../core/generation/finished-generation';
import type { GenerationEvent } from '../core/generation/generation-events';
import { writesCacheImplicitly } from '../core/dialects/registry';
import { apiTypeOf, type InputParts, type UnixMs } from '@gateway/base';

export function toGenerationRequest(message: GenerateRequest): GenerationRequest {
  return {
    generationId: message.generationId,
    organizationId: message.organizationId,
    keyId: message.keyId,
    requestId: message.requestId,
    modelId: message.modelId,
    embeddings: message.embeddings ?? false,
    jsonResponse: message.jsonResponse,
    stream: message.stream,
    includeUsage: message.includeUsage,
    includeStopSequence: message.includeStopSequence ?? false,
    bodyJson: message.bodyJson,
    exactSeed: message.exactSeed,
    maxOutputTokens: message.maxOutputTokens,
    n: Math.max(1, message.n),
    createdAt: Number(message.createdUnixMs) as UnixMs,
    estimatedInputTokens: message.estimatedInputTokens,
    inputParts: message.inputParts ?? anyInputParts(message.estimatedInputTokens),
    maxInputTokens: message.maxInputTokens,
    prices: message.prices,
    signedBy: message.signedBy,
    promptCacheKey: message.promptCacheKey,
    targetRules: message.targetRules,
    apiType: apiTypeOf(message.apiType),
    externalUser: message.externalUser,
    tags: message.tags,
    idempotencyScope: message.idempotencyScope,
    responseKey: message.responseKey,
    runId: message.runId,
    projectId: message.projectId,
  };
}

/** For older callers without the field: all of the estimate may be images or definitions. */
function anyInputParts(estimatedInputTokens: number): InputParts {
  return { images: 1, estimatedImageTokens: estimatedInputTokens, hasDefinitions: true };
}

export function toGenerateResponse(event: GenerationEvent): GenerateResponse {
  switch (event.kind) {
    case 'frames':
      return {
        event: {
          $case: 'frames',
          value: {
            sse: Buffer.from(event.sse, 'utf8'),
            completionTokens: event.completionTokens,
            finishedChoices: event.finishedChoices as number[],
          },
        },
      };
    case 'finished':
      return {
        event: {
          $case: 'finished',
          value: {
            usage: { ...event.usage },
            finishReason: event.finishReason,
            costNanoUsd: event.costNanoUsd,
            exceedsEstimate: event.exceedsEstimate,
            ...(event.responseJson === undefined
              ? {}
              : { responseJson: Buffer.from(event.responseJson, 'utf8') }),
          },
        },
      };
  }
}

/** @param events those of `finished.stored`, compressed. */
export function toGenerationFinished(finished: FinishedGeneration, events?: Buffer): GenerationFinished {
  const { request } = finished;
  return {
    generationId: request.generationId,
    organizationId: request.organizationId,
    keyId: request.keyId,
    requestId: request.requestId,
    modelId: request.modelId,
    provider: finished.provider,
    providerModel: finished.providerModel,
    createdUnixMs: BigInt(request.createdAt),
    streamed: request.stream,
    cancelled: finished.outcome === 'cancelled',
    finishReason: finished.finishReason,
    usage: { ...finished.usage },
    usageSource: usageSourceMessage(finished.usageSource),
    providerCostNanoUsd: finished.providerCostNanoUsd,
    ...finished.durations,
    attempts: [...finished.attempts],
    apiType: request.apiType,
    externalUser: request.externalUser,
    tags: request.tags,
    runId: request.runId,
    projectId: request.projectId,
    prices: { ...finished.prices },
    errorCode: finished.errorCode,
    endedClaim:
      request.idempotencyScope === undefined
        ? undefined
        : {
            scope: request.idempotencyScope,
            ...storedResponse(finished, request.idempotencyScope, events),
            ending: idempotentEndingMessage(finished.outcome),
          },
  };
}

/** In clear only for an older edge, which sends no key. */
function storedResponse(
  { request: { generationId, responseKey }, stored }: FinishedGeneration,
  scope: string,
  events: Buffer | undefined,
): Pick<IdempotentOutcome, 'encryptedResponse' | 'responseJson' | 'responseEvents'> {
  if (!stored) return {};
  const json = Buffer.from(stored.responseJson, 'utf8');
  if (!responseKey) return { responseJson: json, responseEvents: events };
  return { encryptedResponse: encryptResponse(responseKey, { scope, generationId }, { json, events }) };
}

export function toWatchCatalogueResponse(catalogue: Catalogue): WatchCatalogueResponse {
  return {
    version: BigInt(catalogue.version),
    models: [...catalogue.models.values()].map(toModelMessage),
  };
}

function toModelMessage(model: Model): ModelMessage {
  return {
    id: model.id,
    name: model.name,
    ownedBy: model.ownedBy,
    createdUnixS: BigInt(model.createdUnixS),
    disabled: model.disabled,
    contextLength: model.contextLength,
    maxOutputTokens: model.maxOutputTokens,
    capabilities: [...model.capabilities],
    reasoningEfforts: [...model.reasoningEfforts],
    defaultReasoningEffort: model.defaultReasoningEffort,
    prices: { ...model.prices },
    tokenCounting: { ...model.tokenCounting },
    extraParameters: [...model.extraParameters],
    forwardReasoningContent: model.targets.some((target) => target.options.forwardReasoningContent),
    embeddingDimensions: [...(model.embeddingDimensions ?? [])],
    targetPlaces: model.targets.map(placeOf),
    writesCacheImplicitly: model.targets.some(({ provider }) => writesCacheImplicitly(provider.dialect)),
  };
}
