import type { CancelSignal, JobCaller, NanoUsd } from '@gateway/base';
import type { KeyGrant } from '@gateway/contracts/auth';
import type { ClaimIdempotencyKeyResponse, Hold, HoldResult } from '@gateway/contracts/billing-ledger';
import type { IdempotentEnding } from '@gateway/contracts/events';
import type { GenerateRequest, GenerateResponse } from '@gateway/contracts/inference-router';
import type { Admission, AdmissionResult, FinishedAdmission } from '@gateway/contracts/rate-limit';
import type {
  ChatBodyRules,
  CheckedChatBody,
  ListedModel,
  PageCounter,
  RefusedChatBody,
  SettledGeneration,
  UsageGroup,
  UsageQuery,
} from '@gateway/public-api';
import type { RefusalBatch } from './refusals/refusal-counts';

/**
 * Looks up API keys.
 *
 * Duties: a revoked key is never returned as valid after its revocation was
 * confirmed. A cached grant is the same object each time. A failed lookup
 * rejects with a GatewayError (`no_capacity` when auth is unavailable), and is
 * never reported as an unknown key. Lookups work before `start`, and
 * concurrently.
 */
export interface KeyDirectory {
  /** @returns undefined for a key that does not exist. */
  lookup(keySha256: Buffer): Promise<KeyGrant | undefined>;
  start(): Promise<void> | void;
  stop(): Promise<void> | void;
}

/** A body to validate off the event loop. */
export interface BodyCheck extends JobCaller {
  /** Its bytes, in order. They may be transferred to a thread: the caller must not read them afterwards. */
  readonly chunks: readonly Uint8Array[];
  readonly rules: ChatBodyRules;
}

/**
 * Validates large request bodies in threads.
 *
 * Duties: the result is the same as that of the check on the event loop, which
 * is never blocked. Owners take turns, so that an owner with many bodies delays
 * only itself. The queue is bounded; beyond that, `check`
 * rejects with the GatewayError `no_capacity`. A cancelled check leaves the
 * queue and rejects with the signal's reason. A thread that terminates is
 * replaced. Only the body that it was checking fails: with `request_too_large`
 * when it ran out of memory, with `internal_error` otherwise.
 */
export interface BodyThreads {
  check(body: BodyCheck): Promise<CheckedChatBody | RefusedChatBody>;
  /** Rejects pending checks and all later ones. */
  stop(): Promise<void>;
}

/**
 * Counts the pages of documents in threads.
 *
 * Duties: the event loop never reads a document. Owners take turns. The queue is bounded; beyond that, `count` rejects
 * with the GatewayError `no_capacity`. A cancelled count leaves the queue and rejects with the signal's reason. Documents
 * that need too much time or memory have a result that says so. The documents may be transferred to a thread: the caller
 * must not read them afterwards.
 */
export interface PageThreads extends PageCounter {
  /** Rejects pending counts and all later ones. */
  stop(): Promise<void>;
}

/** Sent with a call made for one request: its id and trace context. */
type RequestMetadata = Readonly<Record<string, string>>;

/** A resource that works in the background between `start` and `stop`. */
interface Background {
  start(): void;
  /** Resolves when all pending releases are delivered. */
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
export interface RateLimiter extends Background {
  /**
   * Decides one admission. After a rejection it is unknown whether anything was
   * reserved; `no_capacity` when the limiter could not decide.
   */
  admit(admission: Admission): Promise<AdmissionResult>;
  /** Finishes an admission; resolves when this is delivered, or dropped after the last attempt. */
  finish(finished: FinishedAdmission): Promise<void>;
  /** Renews the slot's lease until the returned function is called. */
  startSlotRenewal(slot: SlotRef, leaseMs: number): () => void;
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
  readonly totalCreditsNanoUsd: NanoUsd;
  readonly totalUsageNanoUsd: NanoUsd;
  readonly heldNanoUsd: NanoUsd;
}

interface RunAccount {
  readonly budgetNanoUsd: NanoUsd;
  readonly spentNanoUsd: NanoUsd;
  readonly heldNanoUsd: NanoUsd;
}

/**
 * Holds, idempotency claims, balances and runs of organizations.
 *
 * Duties: a hold or a claim that was requested can be released although its
 * result is unknown; releases are idempotent, retried in the background and
 * never reject.
 */
export interface Ledger extends Background {
  /** Decides one hold. After a rejection it is unknown whether it was reserved. */
  hold(hold: Hold): Promise<HoldResult>;
  /**
   * Releases a hold in full, also one that the ledger has not received yet. After
   * `delayMs`, if it is not settled by then.
   */
  voidHold(hold: HoldRef, delayMs?: number): Promise<void>;
  /** After a rejection it is unknown whether the key was claimed. */
  claim(request: ClaimRequest): Promise<ClaimIdempotencyKeyResponse>;
  /** Renews the claim's lease until the returned function is called. */
  startClaimRenewal(claim: ClaimRef, leaseMs: number): () => void;
  /** Reports how the claim's request ended. The ledger decides whether its Idempotency-Key is released. */
  endClaim(claim: ClaimRef, ending: IdempotentEnding): Promise<void>;
  balance(organizationId: string, metadata: RequestMetadata): Promise<Balance>;
  /** Undefined for an unknown run. */
  run(organizationId: string, runId: string, metadata: RequestMetadata): Promise<RunAccount | undefined>;
}

/**
 * A copy of the model catalogue that follows the router's.
 *
 * Duties: `current` never blocks; the last catalogue stays in use while the watch is broken.
 */
export interface ModelCatalogue {
  /** All models by id, disabled ones included; a new object for each version. Undefined before the first one. */
  current(): ReadonlyMap<string, ListedModel> | undefined;
  /** All models, disabled ones included. */
  all(): Iterable<ListedModel>;
  /** Whether a catalogue has been received. */
  isReady(): boolean;
  /** Resolves with the first catalogue, or after `timeoutMs` without one. */
  start(timeoutMs: number): Promise<void>;
  stop(): Promise<void>;
}

/**
 * Runs generations.
 *
 * Duties: messages arrive in order and no faster than `onMessage` resolves; an
 * aborted signal cancels the generation; an exceeded timeout rejects with
 * `request_timeout`, since the provider may have been called.
 */
export interface GenerationRunner {
  /** Resolves after the last message. */
  run(
    request: GenerateRequest,
    call: { readonly signal: CancelSignal; readonly timeoutMs: number; readonly metadata: RequestMetadata },
    onMessage: (message: GenerateResponse) => Promise<void> | undefined,
  ): Promise<void>;
  /**
   * Reads a generation that another call started, wherever it runs. Resolves after
   * the last message; without a message when it does not run. An aborted signal
   * does not cancel the generation.
   */
  follow(
    generation: {
      readonly generationId: string;
      readonly organizationId: string;
      /** The number of the last event that is known; 0 for none. */
      readonly afterEvent: number;
    },
    call: { readonly signal: CancelSignal; readonly timeoutMs: number; readonly metadata: RequestMetadata },
    onMessage: (message: GenerateResponse) => Promise<void> | undefined,
  ): Promise<void>;
}

type Owner = Pick<KeyGrant, 'keyId' | 'organizationId'>;

/**
 * The keys and organizations whose limits have refused a request within the last minute at this edge, and the
 * organizations whose limits could not be checked.
 */
export interface RecentRefusals {
  add(owner: Owner, scope: 'key' | 'organization'): void;
  include(owner: Owner): boolean;
}

/** Reports refused requests to the usage domain. */
export interface RefusalReporter {
  /**
   * Idempotent by number. A caller sends the next report after this one was
   * recorded or rejected; a rejected one must not be sent again.
   */
  report(reportNumber: number, batch: RefusalBatch): Promise<'recorded' | 'rejected'>;
}

/** Settled generations of organizations. Read only. */
export interface SettledGenerations {
  find(
    organizationId: string,
    generationId: string,
    metadata: RequestMetadata,
  ): Promise<SettledGeneration | undefined>;
  usage(
    organizationId: string,
    query: UsageQuery,
    metadata: RequestMetadata,
  ): Promise<{ readonly totals: UsageGroup; readonly groups: readonly UsageGroup[] }>;
}
