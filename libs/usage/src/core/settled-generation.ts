import type { NanoUsd, UnixMs, Usage } from '@gateway/base';

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
}
