import type { ApiType, NanoUsd, Prices, Tag, UnixMs, Usage } from '@gateway/base';

/** A generation whose cost was settled; without one if it failed before the provider's first event. */
export interface SettledGeneration {
  readonly id: string;
  readonly organizationId: string;
  readonly keyId: string;
  readonly requestId: string;
  readonly modelId: string;
  /** Empty if no provider was called. */
  readonly provider: string;
  readonly providerModel: string;
  /** When it was admitted. Its UTC day is the day of its usage. */
  readonly createdAt: UnixMs;
  readonly settledAt: UnixMs;
  readonly streamed: boolean;
  readonly cancelled: boolean;
  /** Empty when cancelled. */
  readonly finishReason: string;
  readonly usage: Usage;
  /** Who counted the tokens; undefined without an event of the provider. */
  readonly usageSource: 'provider' | 'counted' | undefined;
  /** Usage times the prices frozen at admission. */
  readonly costNanoUsd: NanoUsd;
  /** What the organization paid; less than the cost if the balance did not cover it. */
  readonly chargedNanoUsd: NanoUsd;
  /** From admission to the provider's first event, or to the failure without one. */
  readonly latencyMs: number;
  readonly generationTimeMs: number;
  /** The API of its request. */
  readonly apiType: ApiType;
  readonly externalUser: string | undefined;
  /** In the order of their names. */
  readonly tags: readonly Tag[];
  /** The project of the key when it was admitted; empty without one. */
  readonly projectId: string;
  /** Error code if the generation failed. */
  readonly errorCode?: string | undefined;
  /** From admission to the first output; undefined unless streamed. */
  readonly timeToFirstTokenMs?: number | undefined;
  /** In the order of the calls; like the prices, undefined for generations without this field. */
  readonly attempts: readonly ProviderAttempt[] | undefined;
  /** The prices that the cost was computed with. */
  readonly prices: Prices | undefined;
}

/** A settled generation as it is stored. */
export interface StoredGeneration extends SettledGeneration {
  /** What the operator pays the provider; undefined when unknown. Never read for a customer. */
  readonly providerCostNanoUsd: NanoUsd | undefined;
  /** The run that it belongs to; only sums of usage read it. */
  readonly runId: string | undefined;
}

/** One call to a provider. */
export interface ProviderAttempt {
  readonly provider: string;
  readonly providerModel: string;
  /** Why this target: the model's routing, a sticky key or signature, a retry or a failover; empty if not recorded. */
  readonly reason: string;
  /** `ok`, `interrupted`, `cancelled`, or why it failed before its first event. */
  readonly outcome: string;
  /** Until its failure; for the successful attempt, until its end. */
  readonly durationMs: number;
  /** The error that the provider responded with. Never read for a customer. */
  readonly error?: ProviderError | undefined;
}

/** A provider's error. Empty: unknown. */
interface ProviderError {
  /** 0 for an error within a successful response. */
  readonly httpStatus: number;
  readonly code: string;
  readonly type: string;
  readonly text: string;
}

export type GenerationStatus = 'completed' | 'cancelled' | 'failed';

/** A failure takes precedence over a cancellation. */
export function statusOf({
  errorCode,
  finishReason,
  cancelled,
}: Pick<SettledGeneration, 'errorCode' | 'finishReason' | 'cancelled'>): GenerationStatus {
  if (errorCode !== undefined || finishReason === 'error') return 'failed';
  return cancelled ? 'cancelled' : 'completed';
}
