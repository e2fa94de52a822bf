import type { NanoUsd, Prices, UnixMs, Usage } from '@gateway/base';

/** One past request whose cost is booked. */
export interface SettledGeneration {
  readonly id: string;
  readonly organizationId: string;
  readonly keyId: string;
  readonly requestId: string;
  readonly modelId: string;
  readonly provider: string;
  readonly providerModel: string;
  /** When it was admitted; decides the day its usage counts for. */
  readonly createdAt: UnixMs;
  readonly settledAt: UnixMs;
  readonly streamed: boolean;
  readonly cancelled: boolean;
  /** Empty when cancelled. */
  readonly finishReason: string;
  readonly usage: Usage;
  /** Who counted it; undefined of generations from before this was kept. */
  readonly usageSource: 'provider' | 'counted' | undefined;
  /** Usage times the prices frozen at admission. */
  readonly costNanoUsd: NanoUsd;
  /** What the organization paid; less than the cost when its balance was used up. */
  readonly chargedNanoUsd: NanoUsd;
  readonly latencyMs: number;
  readonly generationTimeMs: number;
  readonly externalUser: string | undefined;
  /** Catalogue code when the provider failed after its first event. */
  readonly errorCode: string | undefined;
  /** From admission to the first output; undefined unless streamed. */
  readonly timeToFirstTokenMs: number | undefined;
  /** In the order of the calls; undefined of generations from before they were kept, as are the prices. */
  readonly attempts: readonly ProviderAttempt[] | undefined;
  /** By which the cost was worked out. */
  readonly prices: Prices | undefined;
}

/** One call to a target on the way to an answer. */
export interface ProviderAttempt {
  readonly provider: string;
  readonly providerModel: string;
  /** `ok`, `broken_off`, `cancelled`, or why it failed before its first event. */
  readonly outcome: string;
  /** Until its first event or its failure; of the one that answered, until its end. */
  readonly durationMs: number;
}

export type GenerationStatus = 'completed' | 'cancelled' | 'failed';

/** A failure counts as one even when it was found while cancelling. */
export function statusOf({
  errorCode,
  finishReason,
  cancelled,
}: Pick<SettledGeneration, 'errorCode' | 'finishReason' | 'cancelled'>): GenerationStatus {
  if (errorCode !== undefined || finishReason === 'error') return 'failed';
  return cancelled ? 'cancelled' : 'completed';
}
