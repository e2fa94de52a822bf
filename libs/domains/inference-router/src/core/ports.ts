import type { CancelSignal, JobCaller, NanoUsd, UnixMs } from '@gateway/base';
import type { Catalogue, Target, TokenEncoding } from './catalogue/model-catalogue';
import type { EncodeCall } from './dialects/dialect';
import type { DialectName } from './dialects/registry';
import type { AttemptOutcome } from './generation/attempt-outcome';
import type { FinishedGeneration } from './generation/finished-generation';
import type { UpstreamFailure } from './failure/upstream-failure';

/** Provides the active catalogue. `current` never blocks, and never throws after `start`. */
export interface CatalogueSource {
  /** Loads the catalogue. Rejects with all issues when it is not valid. */
  start(): Promise<void>;
  stop(): Promise<void>;
  current(): Catalogue;
  /** Calls the listener after each change, but not during this call. @returns a function that unsubscribes. */
  onChange(listener: () => void): () => void;
  /** The source of the active catalogue, and the rejected change if there is one. */
  status(): CatalogueStatus;
}

export interface CatalogueStatus {
  /** The file name without its folder; empty for a catalogue in the database. */
  readonly file: string;
  /** The active text. */
  readonly text: string;
  /** The active version of a catalogue in the database, 0 before the first. Absent for a file. */
  readonly publishedVersion?: number;
  /** The hash of the active text, in hex. */
  readonly sha256: string;
  readonly loadedAt: UnixMs;
  /** A later change that is not valid. */
  readonly rejected:
    | {
        readonly since: UnixMs;
        readonly issues: readonly { readonly message: string; readonly line: number | undefined }[];
      }
    | undefined;
}

export interface ProviderCall {
  readonly target: Target;
  /** With the query, below the provider's address. */
  readonly path: string;
  /** The request as JSON. */
  readonly body: Uint8Array;
  readonly stream: boolean;
  /** Default: chat. Headers of a successful response are read for embeddings only. */
  readonly operation?: 'chat' | 'embeddings';
  /** Aborting closes the connection immediately, also while the response is read. */
  readonly signal: CancelSignal;
  /** Called when the request is sent over a connection; the provider may process it from then on. */
  readonly onSent: () => void;
}

/**
 * A stream for one reader, used for bytes, server-sent events and events of a
 * generation alike. It uses callbacks: with a promise per chunk, garbage would
 * outlive its chunk.
 */
export interface EventSource<Item> {
  /**
   * The next item; 'none_yet' until more arrives, 'end' after the last.
   *
   * @throws UpstreamFailure when the stream failed, after all items that arrived before.
   */
  poll(): Item | 'none_yet' | 'end';
  /** Sets the listener that is called when `poll` may have an item after it returned 'none_yet'. */
  listen(onArrival: () => void): void;
}

/**
 * A provider's response. `poll` returns all bytes that arrived since the last
 * call. At most a socket buffer is read ahead, so a slow reader slows down the
 * provider.
 */
export interface ProviderResponse extends EventSource<Uint8Array> {
  readonly status: number;
  /** A header of an error response, or of any with embeddings, by lower-case name; undefined when absent. */
  header(name: string): string | undefined;
  /** Stops reading. The connection is reused if the response ends soon, else closed. Never throws. */
  release(): void;
}

/** Sends requests to providers. Rejects with an UpstreamFailure when no response arrives. */
export interface ProviderTransport {
  send(call: ProviderCall): Promise<ProviderResponse>;
  /** Closes all connections. */
  close(): Promise<void>;
}

export interface EncodeJob {
  readonly dialect: DialectName;
  readonly body: Uint8Array;
  readonly call: EncodeCall;
  /** The organization; organizations take turns. */
  readonly owner: string;
  readonly signal: CancelSignal;
}

/** Encodes large requests of dialects that parse them, apart from the event loop. */
export interface EncodeThreads {
  /** Rejects with an UpstreamFailure: of the dialect, `cancelled`, or `bulkhead_full` when the queue is full. */
  encode(job: EncodeJob): Promise<Uint8Array>;
  close(): Promise<void>;
}

export interface BreakerStatus {
  /** The state of the circuit that all organizations share. */
  readonly state: 'closed' | 'half_open' | 'open';
  /** Organizations whose own circuit is open or half open. */
  readonly organizationsOpen: number;
}

/**
 * Circuit breakers per target. `run` runs the action, or rejects with an
 * UpstreamFailure of kind `circuit_open` without running it. Failures count as their
 * rule says. Failures of one organization open the target for that organization
 * only; the shared circuit opens when several organizations fail. Memory is bounded
 * for any number of organizations.
 */
export interface CircuitBreakers {
  run<Result>(target: Target, organizationId: string, action: () => Promise<Result>): Promise<Result>;
  stateOf(target: Target): BreakerStatus;
  /** Stops all timers. */
  close(): void;
}

/**
 * Counts the tokens of texts and returns the sum. Never blocks other work; equal
 * texts always have equal counts. Without capacity it rejects with the GatewayError
 * `no_capacity`.
 */
export interface TokenCounter {
  countAll(texts: readonly string[], encoding: TokenEncoding, caller: JobCaller): number | Promise<number>;
}

/**
 * Records ended generations. Resolves once the record survives a crash; rejects
 * only when every way of storing it failed. Idempotent.
 */
export interface GenerationRecorder {
  /**
   * Space for the record of one generation, until the returned function is called.
   * Undefined when the generation could be lost: it must not start.
   */
  reserve(): (() => void) | undefined;
  record(finished: FinishedGeneration): Promise<void>;
}

export interface Timer {
  /** Starts again, also after it fired. */
  restart(): void;
  cancel(): void;
}

export interface Timers {
  /** Calls `run` once, after this many milliseconds. */
  after(ms: number, run: () => void): Timer;
}

/** Returns random numbers from 0 (inclusive) to 1 (exclusive). */
export type Random = () => number;

/** How far reported usage exceeds the counted usage; never below zero. */
interface UsageExcess {
  readonly promptTokens: number;
  readonly completionTokens: number;
  readonly costNanoUsd: NanoUsd;
}

/** Receives events for metrics and logs. Must not throw or block. */
export interface RouterObserver {
  generationStarted(): void;
  generationEnded(): void;
  attemptEnded(target: Target, outcome: AttemptOutcome, failure?: UpstreamFailure): void;
  retried(target: Target): void;
  /** A generation failed over to this target. */
  failedOver(target: Target): void;
  /** The time from sending the request to the first event, or to the whole response when not streaming. */
  firstEventAfter(target: Target, ms: number): void;
  /** The provider reported no usage, so the router counted it. */
  usageMissing(target: Target): void;
  /** The provider's usage is not plausible, so the router counted it. */
  usageRejected(target: Target, excess: UsageExcess): void;
  /** The tokenizer had no capacity, so the output was estimated as a lower bound. */
  usageEstimated(target: Target): void;
}

/** The spool is full; the record was not stored. */
export class SpoolFullError extends Error {
  override readonly name = 'SpoolFullError';

  constructor(maxBytes: number) {
    super(`the spool is limited to ${maxBytes} bytes`);
  }
}

/**
 * Stores finished generations while both the event log and the ledger are
 * unavailable. Bounded in bytes. Used by one process at a time.
 */
export interface FinishedSpool {
  /**
   * Loads the records of earlier processes. Called first.
   *
   * @throws if another process uses the spool
   */
  open(): Promise<void>;
  /** Lets another process use the spool. Called last. */
  close(): Promise<void>;
  /**
   * Reserves space for the record of one generation, until the returned function is
   * called. Undefined when the spool is full or its disk accepts no writes.
   */
  reserve(): (() => void) | undefined;
  /** Whether `reserve` would succeed. */
  hasSpace(): boolean;
  /** Checks the free space of the disk, and whether it accepts a write. @returns the reason when it does not. */
  checkDisk(): Promise<Error | undefined>;
  /** Resolves when the record survives a crash. @throws SpoolFullError */
  put(id: string, record: Uint8Array): Promise<void>;
  /** The names of all records, in no particular order. */
  names(): readonly string[];
  read(name: string): Promise<Uint8Array>;
  remove(name: string): Promise<void>;
  /** Renames an unreadable record, so that it is no longer replayed but can be inspected. */
  setAside(name: string): Promise<void>;
  bytes(): number;
}
