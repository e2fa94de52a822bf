import type { CancelSignal, UnixMs } from '@gateway/base';
import type { KeyGrant } from '@gateway/contracts/auth';
import type { RateLimitState, SpendLimits, ValidatedChatRequest } from '@gateway/public-api';

/** The client of a request. */
export interface Client {
  /** Whether it disconnected before the response was complete. */
  readonly isCancelled: () => boolean;
  /** Aborts when it disconnects. */
  readonly signal: CancelSignal;
  /** Throws once it has disconnected; no response is sent. */
  readonly throwIfCancelled: () => void;
}

/** A client, and the headers of its response. */
export interface LimitedClient extends Client {
  readonly report: { rateLimits: RateLimitState | undefined };
}

/** The scope of an Idempotency-Key and the body that it was sent with. */
export interface IdempotentRequest {
  /** Hex digest of API key, method, path and header value. */
  readonly scope: string;
  /** The hash of the canonical JSON: the order of names and white space do not matter. */
  readonly bodySha256: Buffer;
  /** The number of the last event that the client has, 0 for none; undefined when it wants no event ids. */
  readonly lastEventId: number | undefined;
}

/** What is certain once a body has passed every validation. */
export interface CheckedBody {
  readonly chat: ValidatedChatRequest;
  readonly idempotent: IdempotentRequest | undefined;
  readonly spendLimits: SpendLimits;
}

/** A request that has passed every validation. */
export interface Checked extends CheckedBody {
  readonly grant: KeyGrant;
}

/** A valid request with its ids. */
export interface Admissible extends Checked {
  readonly generationId: string;
  readonly createdAt: UnixMs;
}
