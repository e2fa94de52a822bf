import type { ApiType, InputParts, NanoUsd, Prices, Tag, TargetRules, UnixMs, Usage } from '@gateway/base';
import type { ErrorCode } from '@gateway/errors';
import type { FinishReason } from '../completion/finish-reason';
import type { ProviderErrorReport } from '../failure/upstream-failure';
import type { AttemptReason } from '../routing/attempt-reason';
import type { AttemptOutcome } from './attempt-outcome';

/** A request for one generation. */
export interface GenerationRequest {
  readonly generationId: string;
  readonly organizationId: string;
  readonly keyId: string;
  readonly requestId: string;
  readonly modelId: string;
  /** Embeddings instead of a completion. */
  readonly embeddings?: boolean;
  readonly stream: boolean;
  /** Whether the response has a JSON format. */
  readonly jsonResponse?: boolean;
  readonly includeUsage: boolean;
  /** Whether the finished choice names the stop sequence that ended it. */
  readonly includeStopSequence?: boolean;
  /** A JSON object without the fields that the router sets itself. */
  readonly bodyJson: Uint8Array;
  /** A seed of more than 53 bits; the body then has none. */
  readonly exactSeed: bigint | undefined;
  /** Per completion; 0 for embeddings. */
  readonly maxOutputTokens: number;
  readonly n: number;
  readonly createdAt: UnixMs;
  readonly estimatedInputTokens: number;
  readonly inputParts: InputParts;
  /** The input that the hold covers, of a request whose cost has a maximum; undefined: no maximum. */
  readonly maxInputTokens: number | undefined;
  /** The prices at admission; the catalogue's when absent. */
  readonly prices: Prices | undefined;
  /** The target that signed the tool loop which the request continues. */
  readonly signedBy: string | undefined;
  /** Requests with the same key should reach the same prompt cache. */
  readonly promptCacheKey: string | undefined;
  /** Which targets may be called; undefined: all. */
  readonly targetRules: TargetRules | undefined;
  /** The API of the request. */
  readonly apiType: ApiType;
  readonly externalUser: string | undefined;
  readonly tags: Tag[];
  readonly idempotencyScope: string | undefined;
  /** Encrypts the response in the event; undefined: it is stored in clear, as older edges expect. */
  readonly responseKey: Uint8Array | undefined;
  readonly runId: string | undefined;
  /** The project of the key. */
  readonly projectId: string | undefined;
}

/** How a generation ended. `failed` includes failures of the router. */
export type GenerationOutcome = 'completed' | 'cancelled' | 'failed';

/** One attempt at a target. */
export interface ProviderAttempt {
  readonly provider: string;
  readonly providerModel: string;
  /** Why this target. */
  readonly reason: AttemptReason;
  readonly outcome: AttemptOutcome;
  /** Until its failure, or until the end of the response. */
  readonly durationMs: number;
  /** The error that the provider responded with. */
  readonly error: ProviderErrorReport | undefined;
}

/** What the ledger stores for replays. */
export interface StoredResponse {
  /** The chat.completion object, or the list of embeddings. */
  readonly responseJson: string;
  /** The server-sent events of a stream that its client can resume; undefined for others. */
  readonly events: string | undefined;
}

/** Integers of 32 bits, also when clocks differ. */
export interface GenerationDurations {
  /** From admission to the provider's first event, or to the failure without one. */
  readonly latencyMs: number;
  /** From the first event to the last. */
  readonly generationTimeMs: number;
  /** From admission to the first output; undefined when not streaming. */
  readonly timeToFirstTokenMs: number | undefined;
}

/** A generation that ended. Without an event of a provider it has no usage. */
export interface FinishedGeneration {
  readonly request: GenerationRequest;
  readonly prices: Prices;
  /** The last provider that was called; empty if none was. */
  readonly provider: string;
  readonly providerModel: string;
  readonly outcome: GenerationOutcome;
  /** Empty when cancelled. */
  readonly finishReason: FinishReason | 'error' | '';
  readonly usage: Usage;
  /** Undefined without an event of a provider. */
  readonly usageSource: 'provider' | 'counted' | undefined;
  /** What the operator pays the provider for the usage; undefined when unknown. */
  readonly providerCostNanoUsd: NanoUsd | undefined;
  readonly durations: GenerationDurations;
  /** In chronological order. */
  readonly attempts: readonly ProviderAttempt[];
  readonly errorCode: ErrorCode | undefined;
  /** Only of a completed generation with an Idempotency-Key. */
  readonly stored: StoredResponse | undefined;
  /** Headers of the event, such as traceparent. */
  readonly traceHeaders: Readonly<Record<string, string>>;
}
