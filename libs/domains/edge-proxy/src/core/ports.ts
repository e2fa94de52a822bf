import type { CancelSignal, NanoUsd } from '@gateway/base';

/**
 * Whose key a request carries. `Grant` is what the owner of keys says of one.
 *
 * Duties: a key that was revoked is never answered as valid after its
 * revocation was confirmed; the grant may come from a cache, and is then the
 * same object as before; a failed lookup rejects with a GatewayError
 * (`no_capacity` when the owner is unavailable), and is never reported as an
 * unknown key. Lookups work before the start, and concurrently.
 */
export interface KeyDirectory<Grant extends object> {
  /** @returns undefined for a key that does not exist. */
  lookup(keySha256: Buffer): Promise<Grant | undefined>;
  start(): Promise<void> | void;
  stop(): Promise<void> | void;
}

/** A body to be checked away from the event loop. */
export interface BodyCheck<Rules> {
  /** Whose it is: owners take turns. */
  readonly owner: string;
  /** Its bytes, in order. They are given away: nobody may look at them afterwards. */
  readonly pieces: readonly Uint8Array[];
  readonly rules: Rules;
  /** Aborts when nobody waits for the answer any more. */
  readonly signal: AbortSignal;
}

/**
 * Checks large request bodies in threads.
 *
 * Duties: it answers what the same check answers on the event loop, and never
 * holds that up itself; owners take turns, so that whoever sends much delays
 * itself; what waits is bounded, for one owner and in all, beyond which it
 * rejects with the GatewayError `no_capacity`; a check that is cancelled frees
 * its place and rejects with the signal's reason; a thread that ends over a body
 * is replaced, and that body alone is refused (`request_too_large`) if it took
 * too much memory, and else rejects with the GatewayError `internal_error`.
 */
export interface BodyThreads<Rules, Checked> {
  check(body: BodyCheck<Rules>): Promise<Checked>;
  /** Rejects what is not answered yet; nothing can be checked afterwards. */
  stop(): Promise<void>;
}

/** Travels with a call made for one request: its id and trace context. */
type RequestMetadata = Readonly<Record<string, string>>;

/** A resource that works in the background between `start` and `stop`. */
interface Background {
  start(): void;
  /** Resolves when everything released is delivered. */
  idle(): Promise<void>;
  stop(): void;
}

export interface SlotRef {
  readonly admissionId: string;
  readonly organizationId: string;
  readonly keyId: string;
}

/**
 * The rate limits of keys and organizations.
 *
 * Duties: an admission is all or nothing; `finish` is idempotent, retried in the
 * background and never rejects.
 */
export interface RateLimiter<Admission, Decision, Finished> extends Background {
  /**
   * Decides one admission. After a rejection it is unknown whether anything was
   * reserved; `no_capacity` when the limiter could not decide.
   */
  admit(admission: Admission): Promise<Decision>;
  /** Finishes an admission; resolves when that is delivered or given up. */
  finish(finished: Finished): Promise<void>;
  /** Renews a slot until the returned function is called. */
  keepSlot(slot: SlotRef, leaseMs: number): () => void;
}

export interface HoldRef {
  readonly holdId: string;
  readonly organizationId: string;
}

export interface ClaimRef {
  readonly scope: string;
  readonly generationId: string;
}

interface ClaimRequest extends ClaimRef {
  readonly organizationId: string;
  readonly bodySha256: Buffer;
  /** How long the claim outlives an edge that crashed. */
  readonly leaseMs: number;
}

interface Balance {
  readonly totalCredits: NanoUsd;
  readonly totalUsage: NanoUsd;
  readonly reserved: NanoUsd;
}

/**
 * Holds, idempotency claims and balances of organizations.
 *
 * Duties: a hold or a claim that was requested can be released although its
 * result is unknown; releases are idempotent, retried in the background and
 * never reject.
 */
export interface Ledger<Hold, HoldDecision, ClaimDecision, ClaimOutcome> extends Background {
  /** Decides one hold. After a rejection it is unknown whether it was reserved. */
  hold(hold: Hold): Promise<HoldDecision>;
  /** Releases a hold in full, also one that the ledger has not received yet. */
  voidHold(hold: HoldRef): Promise<void>;
  /** After a rejection it is unknown whether the key was claimed. */
  claim(request: ClaimRequest): Promise<ClaimDecision>;
  /** Renews a claim until the returned function is called. */
  keepClaim(claim: ClaimRef, leaseMs: number): () => void;
  /** Reports how the request of a claim ended; the ledger decides what becomes of its key. */
  endClaim(claim: ClaimRef, outcome: ClaimOutcome): Promise<void>;
  balance(organizationId: string, metadata: RequestMetadata): Promise<Balance>;
}

/**
 * A copy of the model catalogue that follows the router's.
 *
 * Duties: `current` never blocks; a broken watch keeps the last catalogue.
 */
export interface ModelCatalogue<Model> {
  /** All models by id, disabled ones too; another object for each version. Undefined until one has arrived. */
  current(): ReadonlyMap<string, Model> | undefined;
  /** With disabled ones. */
  all(): Iterable<Model>;
  /** Whether a catalogue has ever arrived. */
  isReady(): boolean;
  /** Resolves at the first catalogue, or after `timeoutMs` without one. */
  start(timeoutMs: number): Promise<void>;
  stop(): Promise<void>;
}

/**
 * Runs generations.
 *
 * Duties: messages arrive in order and no faster than `onMessage` resolves; an
 * aborted signal cancels the generation; a passed timeout rejects with
 * `request_timeout`, since the provider may have been called.
 */
export interface GenerationRunner<Request, Message> {
  /** Resolves after the last message. */
  run(
    request: Request,
    call: { readonly signal: CancelSignal; readonly timeoutMs: number; readonly metadata: RequestMetadata },
    onMessage: (message: Message) => Promise<void> | undefined,
  ): Promise<void>;
}

/** Settled generations of organizations. Read only. */
export interface SettledGenerations<Generation, UsageQuery, Usage> {
  find(
    organizationId: string,
    generationId: string,
    metadata: RequestMetadata,
  ): Promise<Generation | undefined>;
  usage(
    organizationId: string,
    query: UsageQuery,
    metadata: RequestMetadata,
  ): Promise<{ readonly totals: Usage; readonly groups: readonly Usage[] }>;
}
