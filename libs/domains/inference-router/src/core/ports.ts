import type { CancelSignal, NanoUsd, UnixMs } from '@gateway/base';
import type { Catalogue, Target, TokenEncoding } from './catalogue/model-catalogue';
import type { AttemptOutcome } from './generation/attempt-outcome';
import type { FinishedGeneration } from './generation/finished-generation';
import type { UpstreamFailure } from './failure/upstream-failure';

/** The catalogue in force. `current` never blocks and never throws after `start`. */
export interface CatalogueSource {
  /** Loads the catalogue; rejects, naming every fault, when it is not valid. */
  start(): Promise<void>;
  stop(): Promise<void>;
  current(): Catalogue;
  /** Calls back after each change, never from within. @returns stops it. */
  onChange(listener: () => void): () => void;
  /** Where the current one comes from, and what was refused since. */
  status(): CatalogueStatus;
}

export interface CatalogueStatus {
  /** The name of the file, without its folder. */
  readonly file: string;
  /** In hex, of the text that is in force. */
  readonly sha256: string;
  readonly loadedAt: UnixMs;
  /** A later text that cannot be used. */
  readonly refused:
    | {
        readonly since: UnixMs;
        readonly faults: readonly { readonly message: string; readonly line: number | undefined }[];
      }
    | undefined;
}

export interface ProviderCall {
  readonly target: Target;
  /** The whole request as JSON. */
  readonly body: Uint8Array;
  readonly stream: boolean;
  /** Aborting closes the provider's connection at once, also while the answer is read. */
  readonly signal: CancelSignal;
  /** Told when the request goes out over a connection; from then on the provider may work on it. */
  readonly onSent: () => void;
}

/**
 * A stream for one reader, the same at every level of a generation: bytes of the
 * provider, server-sent events, events of the generation. Callbacks instead of
 * promises: a promise per chunk would become garbage that outlives its chunk.
 */
export interface EventSource<Item> {
  /**
   * The next item; 'none_yet' until more arrives, 'end' after the last.
   *
   * @throws UpstreamFailure when the stream broke, after everything that arrived before.
   */
  poll(): Item | 'none_yet' | 'end';
  /** Sets the listener that is called when `poll` may have an item after it returned 'none_yet'. */
  listen(onArrival: () => void): void;
}

/**
 * A provider's response. `poll` returns all bytes that arrived since the last
 * call. At most a socket's buffers are read ahead, so a slow reader slows down
 * the provider.
 */
export interface ProviderAnswer extends EventSource<Uint8Array> {
  readonly status: number;
  /** In lower case; undefined when absent. */
  readonly retryAfter: string | undefined;
  /** Stops reading: keeps the connection if the response ends soon, else closes it. Never throws. */
  release(): void;
}

/** Carries a request to a provider. Rejects with an UpstreamFailure when no answer came. */
export interface ProviderTransport {
  send(call: ProviderCall): Promise<ProviderAnswer>;
  /** Closes idle connections and waits for none. */
  close(): Promise<void>;
}

export interface BreakerStatus {
  /** For all organizations. */
  readonly state: 'closed' | 'half_open' | 'open';
  /** Organizations whose own failures keep the target from them. */
  readonly organizationsOpen: number;
}

/**
 * Circuit breakers per target: `run` runs the action, or rejects with an
 * UpstreamFailure of kind `circuit_open` without running it. Failures whose
 * rule says so open a circuit; others leave it as it is. Failures of one
 * organization open the target's circuit for that organization only; the circuit
 * of all opens when different organizations fail. Bounded in memory, however many
 * organizations there are.
 */
export interface CircuitBreakers {
  run<Result>(target: Target, organizationId: string, action: () => Promise<Result>): Promise<Result>;
  stateOf(target: Target): BreakerStatus;
  /** Ends its timers. */
  close(): void;
}

/**
 * Counts the tokens of texts, added up. Never holds up other work; the same
 * texts always count the same. A count that cannot be taken now rejects with the
 * GatewayError `no_capacity`.
 */
export interface TokenCounter {
  countAll(texts: readonly string[], encoding: TokenEncoding): number | Promise<number>;
}

/**
 * Makes the end of a generation durable. Resolves once it survives a crash;
 * rejects only when every way to keep it has failed. Recording one twice is
 * harmless.
 */
export interface GenerationRecorder {
  record(finished: FinishedGeneration): Promise<void>;
}

export interface Timer {
  /** Starts over, also after it fired. */
  restart(): void;
  cancel(): void;
}

export interface Timers {
  /** Calls back once after so many milliseconds. */
  after(ms: number, run: () => void): Timer;
}

/** A source of chance, from 0 up to 1. */
export type Random = () => number;

/** What a provider's report would have cost beyond what was counted; never below zero. */
interface UsageExcess {
  readonly promptTokens: number;
  readonly completionTokens: number;
  readonly cost: NanoUsd;
}

/** Told what happens, for metrics and logs. Must not throw or wait. */
export interface RouterObserver {
  generationStarted(): void;
  generationEnded(): void;
  attemptEnded(target: Target, outcome: AttemptOutcome, failure?: UpstreamFailure): void;
  retried(target: Target): void;
  /** A generation went on to this target. */
  failedOver(target: Target): void;
  /** From sending the request to the first event, or to the whole answer when not streamed. */
  firstEventAfter(target: Target, ms: number): void;
  /** The provider reported no usage, so it was counted. */
  usageMissing(target: Target): void;
  /** The provider's usage could not be believed, so it was counted; with what it reported beyond that. */
  usageNotBelieved(target: Target, excess: UsageExcess): void;
  /** The output could not be counted just then, and was estimated from below. */
  usageEstimated(target: Target): void;
}

/** The spool has no room; what was to be kept is not. */
export class SpoolFullError extends Error {
  override readonly name = 'SpoolFullError';

  constructor(maxBytes: number) {
    super(`the spool holds ${maxBytes} bytes at most`);
  }
}

/**
 * Keeps finished generations while neither the event log nor the ledger can be
 * reached. Bounded in bytes. One process at a time.
 */
export interface FinishedSpool {
  /** Finds what an earlier process left. Called once, before the others. */
  open(): Promise<void>;
  /** Resolves when the record survives a crash. @throws SpoolFullError */
  put(id: string, record: Uint8Array): Promise<void>;
  /** What is kept, in no order. */
  names(): readonly string[];
  read(name: string): Promise<Uint8Array>;
  remove(name: string): Promise<void>;
  /** Keeps an unreadable record for a person to look at, out of the way. */
  setAside(name: string): Promise<void>;
  bytes(): number;
}
