import { isoTime, usd } from '@gateway/admin-calls';
import { costByKind } from '@gateway/base';
import { errorTable, isErrorCode } from '@gateway/errors';
import type { RefusedInOrganization, RefusedRequest } from '../../core/refusals';
import { statusOf, type ProviderAttempt, type SettledGeneration } from '../../core/settled-generation';

export function generationSummaryView(generation: SettledGeneration) {
  return {
    id: generation.id,
    created_at: isoTime(generation.createdAt),
    model_id: generation.modelId,
    key_id: generation.keyId,
    request_id: generation.requestId,
    external_user: generation.externalUser ?? null,
    tags: Object.fromEntries(generation.tags.map(({ name, value }) => [name, value])),
    api_type: generation.apiType,
    status: statusOf(generation),
    finish_reason: generation.finishReason === '' ? null : generation.finishReason,
    error_code: generation.errorCode ?? null,
    streamed: generation.streamed,
    cost_usd: usd(generation.costNanoUsd),
    charged_usd: usd(generation.chargedNanoUsd),
    duration_ms: generation.latencyMs + generation.generationTimeMs,
    time_to_first_token_ms: generation.timeToFirstTokenMs ?? null,
    prompt_tokens: generation.usage.promptTokens,
    completion_tokens: generation.usage.completionTokens,
  };
}

export function generationDetailView(
  generation: SettledGeneration,
  { showsTargets }: { readonly showsTargets: boolean },
) {
  const { usage, prices, errorCode, attempts = [] } = generation;
  return {
    ...generationSummaryView(generation),
    cached_tokens: usage.cachedTokens,
    cache_write_tokens: usage.cacheWriteTokens,
    cache_write_1h_tokens: usage.cacheWrite1hTokens,
    image_tokens: usage.imageTokens,
    reasoning_tokens: usage.reasoningTokens,
    error_message: errorCode !== undefined && isErrorCode(errorCode) ? errorTable[errorCode].message : null,
    project_id: generation.projectId === '' ? null : generation.projectId,
    settled_at: isoTime(generation.settledAt),
    usage_source: generation.usageSource ?? null,
    latency_ms: generation.latencyMs,
    generation_time_ms: generation.generationTimeMs,
    cost_by_kind: prices
      ? costByKind(usage, prices).map(({ kind, tokens, priceNanoUsdPerMillion, costNanoUsd }) => ({
          kind,
          tokens,
          price_usd_per_million: usd(priceNanoUsdPerMillion),
          cost_usd: usd(costNanoUsd),
        }))
      : null,
    attempts:
      attempts.length === 0
        ? null
        : attempts.map(({ provider, providerModel, reason, outcome, durationMs, error }) => ({
            provider,
            provider_model: showsTargets ? providerModel : null,
            reason,
            outcome,
            duration_ms: durationMs,
            error: showsTargets && error ? providerErrorView(error) : null,
          })),
  };
}

function providerErrorView({ httpStatus, code, type, text }: NonNullable<ProviderAttempt['error']>) {
  return {
    http_status: httpStatus === 0 ? null : httpStatus,
    code: code === '' ? null : code,
    type: type === '' ? null : type,
    text: text === '' ? null : text,
  };
}

export function refusedRequestView(request: RefusedRequest) {
  return {
    request_id: request.requestId,
    refused_at: isoTime(request.refusedAt),
    key_id: request.keyId,
    model: request.model === '' ? null : request.model,
    error_code: request.errorCode,
    error_message: request.errorMessage,
    api_type: request.apiType,
  };
}

export function foundGenerationView(generation: SettledGeneration) {
  return {
    organization_id: generation.organizationId,
    request_id: generation.requestId,
    generation_id: generation.id,
    at: isoTime(generation.createdAt),
    error_code: generation.errorCode ?? null,
  };
}

export function foundRefusalView(request: RefusedInOrganization) {
  return {
    organization_id: request.organizationId,
    request_id: request.requestId,
    generation_id: null,
    at: isoTime(request.refusedAt),
    error_code: request.errorCode,
  };
}
