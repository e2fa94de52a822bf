import { usdNumber, type ApiType, type NanoUsd, type UnixMs, type Usage } from '@gateway/base';

/** A settled generation. */
export interface SettledGeneration {
  readonly id: string;
  readonly modelId: string;
  readonly requestId: string;
  readonly createdAt: UnixMs;
  readonly streamed: boolean;
  readonly cancelled: boolean;
  /** Empty when cancelled. */
  readonly finishReason: string;
  /** If the generation failed. */
  readonly errorCode?: string | undefined;
  readonly usage: Usage;
  /** Whether the provider reported the usage, or the gateway counted it because the report was absent or implausible. */
  readonly usageSource?: 'provider' | 'counted' | undefined;
  /** The amount charged to the balance. */
  readonly chargedNanoUsd: NanoUsd;
  readonly latencyMs: number;
  readonly generationTimeMs: number;
  readonly apiType: ApiType;
  readonly externalUser?: string | undefined;
}

/** The response of GET /v1/generation. Times in milliseconds, amounts in US dollars. */
export function generationView(generation: SettledGeneration): object {
  const { usage } = generation;
  const cost = usdNumber(generation.chargedNanoUsd);
  return {
    data: {
      id: generation.id,
      model: generation.modelId,
      created_at: new Date(generation.createdAt).toISOString(),
      api_type: generation.apiType,
      streamed: generation.streamed,
      cancelled: generation.cancelled,
      finish_reason: generation.finishReason,
      error_code: generation.errorCode ?? null,
      tokens_prompt: usage.promptTokens,
      tokens_completion: usage.completionTokens,
      native_tokens_prompt: usage.promptTokens,
      native_tokens_completion: usage.completionTokens,
      native_tokens_reasoning: usage.reasoningTokens,
      native_tokens_cached: usage.cachedTokens,
      native_tokens_cache_write: usage.cacheWriteTokens + usage.cacheWrite1hTokens,
      native_tokens_cache_write_1h: usage.cacheWrite1hTokens,
      usage_source: generation.usageSource ?? null,
      total_cost: cost,
      usage: cost,
      latency: generation.latencyMs,
      generation_time: generation.generationTimeMs,
      external_user: generation.externalUser ?? null,
      request_id: generation.requestId,
    },
  };
}
