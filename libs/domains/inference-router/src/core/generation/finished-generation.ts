import type { Prices, Usage } from '@gateway/base';
import type { ErrorCode } from '@gateway/errors';
import type { FinishReason } from '../completion/finish-reason';
import type { AttemptOutcome } from './attempt-outcome';
import type { InputParts } from './usage';

/** A generation as its caller asked for it. */
export interface GenerationRequest {
  readonly generationId: string;
  readonly organizationId: string;
  readonly keyId: string;
  readonly requestId: string;
  readonly modelId: string;
  readonly stream: boolean;
  readonly includeUsage: boolean;
  /** A JSON object without the fields that the router sets itself. */
  readonly bodyJson: Uint8Array;
  /** A seed beyond what JSON numbers keep; the body has none then. */
  readonly exactSeed: bigint | undefined;
  /** Per completion. */
  readonly maxOutputTokens: number;
  readonly n: number;
  readonly createdUnixMs: number;
  readonly estimatedInputTokens: number;
  readonly inputParts: InputParts;
  /** Frozen at admission; the catalogue's when absent. */
  readonly prices: Prices | undefined;
  readonly externalUser: string | undefined;
  readonly idempotencyScope: string | undefined;
}

/** How a generation ended: with an answer, because nobody wanted it any more, or with a failure of the provider's or ours. */
export type CompletionOutcome = 'answered' | 'cancelled' | 'failed';

/** One try of a target on the way to an answer. */
export interface ProviderAttempt {
  readonly provider: string;
  readonly providerModel: string;
  readonly outcome: AttemptOutcome;
  /** Until its failure; of the one that answered, until its end. */
  readonly durationMs: number;
}

/** The end of a generation that owes its cost. */
export interface FinishedGeneration {
  readonly request: GenerationRequest;
  readonly prices: Prices;
  readonly provider: string;
  readonly providerModel: string;
  readonly ending: CompletionOutcome;
  /** Empty when cancelled. */
  readonly finishReason: FinishReason | 'error' | '';
  readonly usage: Usage;
  readonly usageSource: 'provider' | 'counted';
  /** From admission to the provider's first event. */
  readonly latencyMs: number;
  /** From the first event to the last. */
  readonly generationTimeMs: number;
  /** From admission to the first output; undefined unless streamed. */
  readonly timeToFirstTokenMs: number | undefined;
  /** In the order of the calls. */
  readonly attempts: readonly ProviderAttempt[];
  readonly errorCode: ErrorCode | undefined;
  /** The chat.completion object, for replay; only of a generation that came to its end. */
  readonly responseJson: string | undefined;
  /** Such as traceparent; travels with the event. */
  readonly traceHeaders: Readonly<Record<string, string>>;
}
